#![no_main]
//! See `kcore_fuzz::code_map`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::code_map::run(data));
