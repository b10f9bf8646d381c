#![no_main]
//! See `kcore_fuzz::image`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::image::run(data));
