#![no_main]
//! See `kcore_fuzz::open`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::open::run(data));
