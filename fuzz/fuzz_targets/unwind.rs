#![no_main]
//! See `kcore_fuzz::unwind`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::unwind::run(data));
