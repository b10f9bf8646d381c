#![no_main]
//! See `kcore_fuzz::type_names`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::type_names::run(data));
