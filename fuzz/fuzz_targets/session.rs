#![no_main]
//! See `kcore_fuzz::session`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::session::run(data));
