#![no_main]
//! See `kcore_fuzz::printers`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::printers::run(data));
