//! rust-panic-abort: panics three calls deep with arguments in its message.

#[path = "../../include/truth.rs"]
mod truth;
use std::hint::black_box;
use truth::{call, die};

#[inline(never)]
fn connect(host: &str, attempts: u32) -> u32 {
    die!("connect", "std", panic!("no route to host {host}: {attempts} attempts"))
}

#[inline(never)]
fn retry(host: &str) -> u32 {
    let attempts = black_box(3);
    call!("retry", connect(host, attempts)) + 1
}

fn main() {
    let host = black_box(String::from("10.0.0.7"));
    black_box(call!("main", retry(&host)));
}
