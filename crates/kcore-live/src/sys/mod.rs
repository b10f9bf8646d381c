//! The system calls: tracing threads, and reading the memory of another process.
//!
//! The only room of the crate with `unsafe`.

#![allow(unsafe_code)]

pub mod ask;
pub mod own;
pub mod perf;
pub mod ptrace;
pub mod signals;
pub mod vm;
