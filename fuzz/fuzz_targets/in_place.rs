#![no_main]
//! See `kcore_fuzz::in_place`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::in_place::run(data));
