#![no_main]
//! See `kcore_fuzz::layer`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::layer::run(data));
