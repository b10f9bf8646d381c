#![no_main]
//! See `kcore_fuzz::java`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::java::run(data));
