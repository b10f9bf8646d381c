//! rust-panic-hook: a panic with a value that is no text, and one in the hook that is told of it.

#[path = "../../include/truth.rs"]
mod truth;
use std::hint::black_box;
use std::panic::{panic_any, set_hook};
use truth::{call, die};

/// Why the order failed.
#[allow(dead_code)]
struct Refused {
    order: u32,
}

#[inline(never)]
fn report() {
    die!("report", "std", panic!("nobody listens"))
}

#[inline(never)]
fn order(number: u32) -> u32 {
    truth::push("order", file!(), line!() + 3, Some(false));
    truth::gap("std");
    if black_box(number) > 0 {
        panic_any(Refused { order: number });
    }
    number
}

fn main() {
    set_hook(Box::new(|_| report()));
    black_box(call!("main", order(black_box(12))));
}
