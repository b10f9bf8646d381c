//! why-rust-allocation: a vector that no machine has the memory for.

#[path = "../../include/truth.rs"]
mod truth;
use std::hint::black_box;
use truth::call;

#[inline(never)]
fn table(rows: usize) -> usize {
    truth::push("table", file!(), line!() + 3, Some(false));
    truth::gap("std");
    truth::write();
    let table: Vec<u64> = Vec::with_capacity(rows << 43);
    black_box(&table).capacity()
}

#[inline(never)]
fn load(rows: usize) -> usize {
    black_box(call!("load", table(rows))) + 1
}

fn main() {
    black_box(call!("main", load(black_box(2))));
}
