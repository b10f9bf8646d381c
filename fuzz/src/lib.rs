//! The bodies of the fuzz targets: one module each, and `run` takes whatever bytes it is given.
//!
//! A target holds when it returns: no panic, no overflow, and within the time and memory that
//! `cargo xtask fuzz` allows. What the code under test answers is its own affair.

pub mod cfi;
pub mod command;
pub mod core_file;
pub mod demangle;
pub mod disasm;
pub mod dwarf;
pub mod image;
pub mod input;
pub mod memory;
pub mod modules;
pub mod notes;
pub mod open;
pub mod synthetic;
pub mod unpack;
pub mod unwind;
