//! rust-panic-extern: unwinding reaches an `extern "C"` function and stops there: its callees are gone.

#[path = "../../include/truth.rs"]
mod truth;
use std::hint::black_box;
use truth::call;

#[inline(never)]
fn parse(text: &str) -> i32 {
    text.parse().expect("a number")
}

#[inline(never)]
extern "C" fn callback(at: usize) -> i32 {
    let text = ["1", "2", "three"][at];
    // The abort is called from this function's landing pad, the panic's own frames are below it.
    truth::push("callback", file!(), 0, Some(false));
    truth::gap("std");
    truth::write();
    black_box(parse(text)) + 1
}

#[inline(never)]
fn run(callback: extern "C" fn(usize) -> i32) -> i32 {
    call!("run", callback(black_box(2)))
}

fn main() {
    black_box(call!("main", run(black_box(callback))));
}
