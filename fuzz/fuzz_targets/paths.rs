#![no_main]
//! See `kcore_fuzz::paths`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::paths::run(data));
