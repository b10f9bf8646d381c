//! PowerPC, Linux.

mod syscalls;
mod syscalls64;

pub use syscalls::NAMES;
pub use syscalls64::NAMES as NAMES64;
