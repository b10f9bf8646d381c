#![no_main]
//! See `kcore_fuzz::registered`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::registered::run(data));
