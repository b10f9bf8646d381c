#![no_main]
//! See `kcore_fuzz::dwarf`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::dwarf::run(data));
