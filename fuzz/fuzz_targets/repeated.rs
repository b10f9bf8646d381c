#![no_main]
//! See `kcore_fuzz::repeated`.

#[global_allocator]
static ALLOCATOR: kcore_fuzz::counting::Counting = kcore_fuzz::counting::Counting;

libfuzzer_sys::fuzz_target!(|data: &[u8]| kcore_fuzz::repeated::run(data));
