#![no_main]
//! See `kcore_fuzz::perl`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::perl::run(data));
