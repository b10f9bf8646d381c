#![no_main]
//! See `kcore_fuzz::tokio`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::tokio::run(data));
