#![no_main]
//! See `kcore_fuzz::demangle`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::demangle::run(data));
