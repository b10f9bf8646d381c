#![no_main]
//! See `kcore_fuzz::breakpad`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::breakpad::run(data));
