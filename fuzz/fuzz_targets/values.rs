#![no_main]
//! See `kcore_fuzz::values`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::values::run(data));
