#![no_main]
//! See `kcore_fuzz::command`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::command::run(data));
