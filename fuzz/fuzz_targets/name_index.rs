#![no_main]
//! See `kcore_fuzz::name_index`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::name_index::run(data));
