//! Values of programs, as `::print` and its relatives tell them, held against what the programs themselves
//! told before they died, and against gdb.

mod ask;
mod bases;
mod check;
mod compare;
mod differs;
mod gdb;
mod gdb_locals;
mod locals;
mod programs;
mod told;
mod tree;
