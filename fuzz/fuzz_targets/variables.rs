#![no_main]
//! See `kcore_fuzz::variables`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::variables::run(data));
