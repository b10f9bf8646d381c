#![no_main]
//! See `kcore_fuzz::core_file`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::core_file::run(data));
