#![no_main]
//! See `kcore_fuzz::luajit`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::luajit::run(data));
