#![no_main]
//! See `kcore_fuzz::types`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::types::run(data));
