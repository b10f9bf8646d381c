#![no_main]
//! See `kcore_fuzz::erlang`.

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::erlang::run(data));
