#![no_main]
//! See `kcore_fuzz::notes`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::notes::run(data));
