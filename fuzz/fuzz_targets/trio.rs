#![no_main]
//! See `kcore_fuzz::trio`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::trio::run(data));
