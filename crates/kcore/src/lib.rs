//! Open a Linux core and ask it questions.

#![warn(clippy::unwrap_used, clippy::expect_used)]

mod open;
mod thread;

pub use kcore_mem::{Addr, AddrRange, AddressSpace, Arch, CodeAddr, Fault, Origin, Target};
pub use open::{Core, LookupError, OpenError, OpenOptions};
pub use thread::Tid;
