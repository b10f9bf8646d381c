#![no_main]
//! See `kcore_fuzz::reactor`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::reactor::run(data));
