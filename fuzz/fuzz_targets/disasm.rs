#![no_main]
//! See `kcore_fuzz::disasm`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::disasm::run(data));
