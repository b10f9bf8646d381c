#![no_main]
//! See `kcore_fuzz::heap`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::heap::run(data));
