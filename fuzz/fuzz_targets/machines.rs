#![no_main]
//! See `kcore_fuzz::machines`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::machines::run(data));
