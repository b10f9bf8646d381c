#![no_main]
//! See `kcore_fuzz::expression`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::expression::run(data));
