#![no_main]
//! See `kcore_fuzz::greenlet`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::greenlet::run(data));
