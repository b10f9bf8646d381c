#![no_main]
//! See `kcore_fuzz::go`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::go::run(data));
