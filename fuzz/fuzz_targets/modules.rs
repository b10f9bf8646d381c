#![no_main]
//! See `kcore_fuzz::modules`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::modules::run(data));
