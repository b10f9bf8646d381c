//! 32-bit Arm, Linux.

mod syscalls;

pub use syscalls::NAMES;
