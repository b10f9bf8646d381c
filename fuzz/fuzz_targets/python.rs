#![no_main]
//! See `kcore_fuzz::python`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::python::run(data));
