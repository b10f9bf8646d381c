#![no_main]
//! See `kcore_fuzz::v8`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::v8::run(data));
