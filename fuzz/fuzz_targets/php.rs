#![no_main]
//! See `kcore_fuzz::php`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::php::run(data));
