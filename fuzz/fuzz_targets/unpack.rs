#![no_main]
//! See `kcore_fuzz::unpack`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::unpack::run(data));
