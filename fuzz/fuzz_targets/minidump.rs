#![no_main]
//! See `kcore_fuzz::minidump`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::minidump::run(data));
