#![no_main]
//! See `kcore_fuzz::cfi`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::cfi::run(data));
