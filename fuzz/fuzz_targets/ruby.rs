#![no_main]
//! See `kcore_fuzz::ruby`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::ruby::run(data));
