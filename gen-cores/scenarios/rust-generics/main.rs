//! rust-generics: main → generic function → trait object → closure in an iterator chain → generic method, which dies.

#[path = "../../include/truth.rs"]
mod truth;
use std::hint::black_box;
use truth::{call, die};

struct Cell<T> {
    at: *const T,
}

impl<T: Copy> Cell<T> {
    #[inline(never)]
    fn get(&self) -> T {
        die!("::get", unsafe { *self.at })
    }
}

trait Shape {
    fn area(&self, scale: u64) -> u64;
}

struct Grid {
    cells: Vec<Cell<u64>>,
}

impl Shape for Grid {
    #[inline(never)]
    fn area(&self, scale: u64) -> u64 {
        truth::push("::area", file!(), 0, Some(false));
        // The chain is inlined or not, as the variant has it: core's own frames.
        truth::gap("std");
        let sum = self.cells.iter().map(|cell| weigh(cell, scale)).filter(|w| *w > 1).sum();
        truth::pop();
        sum
    }
}

#[inline(never)]
fn weigh(cell: &Cell<u64>, scale: u64) -> u64 {
    call!("weigh", cell.get()) * scale
}

#[inline(never)]
fn apply<F: Fn(u64) -> u64>(function: F, value: u64) -> u64 {
    call!("apply", function(value))
}

#[inline(never)]
fn measure(shape: &dyn Shape) -> u64 {
    let function = |scale: u64| {
        truth::push("{closure", file!(), line!() + 1, None);
        black_box(shape.area(scale))
    };
    call!("measure", apply(function, black_box(3)))
}

fn main() {
    let grid = Grid { cells: vec![Cell { at: black_box(8 as *const u64) }] };
    black_box(call!("main", measure(black_box(&grid))));
}
