//! The system calls: tracing threads, reading the memory of another process, and what is there of it.
//!
//! The only room of the crate with `unsafe`.

#![allow(unsafe_code)]

pub mod ask;
pub mod clock;
pub mod holes;
#[cfg(test)]
pub mod mapped;
pub mod own;
pub mod pagemap;
pub mod perf;
pub mod priority;
pub mod ptrace;
pub mod robust;
pub mod signals;
pub mod stops;
pub mod trap;
pub mod vm;
