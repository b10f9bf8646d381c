//! Twice the input, twice the work: what a generator makes of N must cost kcore time, memory and output in
//! proportion to N, whatever its parts have in common.
//!
//! Each generator makes a program and its core by hand, in which N things share one other thing that is N
//! long. The real program answers commands about the files of N, 4 N and 16 N, and [`run`] fails where
//! the cost grows with a power of N above 1.2.

mod abbreviations;
mod case;
mod dwarf;
mod elf;
mod frames;
mod halted;
mod locations;
mod one_place;
mod plt;
mod process;
mod run;
mod split;
mod symbols;
#[allow(dead_code, reason = "other programs of tests need the rest")]
#[path = "../../../../fuzz/src/synthetic.rs"]
mod synthetic;
mod units;
