#![no_main]
//! See `kcore_fuzz::coroutine`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::coroutine::run(data));
