//! MIPS, Linux.

mod syscalls;
mod syscalls64;
mod syscalls_n32;

pub use syscalls::NAMES;
pub use syscalls_n32::NAMES as NAMES_N32;
pub use syscalls64::NAMES as NAMES64;
