#![no_main]
//! See `kcore_fuzz::source_map`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::source_map::run(data));
