//! s390x, Linux.

mod syscalls;

pub use syscalls::NAMES;
