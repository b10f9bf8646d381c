#![no_main]
//! See `kcore_fuzz::lua`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::lua::run(data));
