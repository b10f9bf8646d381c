//! i386, Linux.

mod syscalls;

pub use syscalls::NAMES;
