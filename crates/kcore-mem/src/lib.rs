//! The words that every room of kcore speaks: addresses, targets, faults, and the address space.
//!
//! This crate owns the *types* of memory and reads none itself. It knows no file format, no
//! process and no command. What implements [`AddressSpace`] (a core, a module file, a snapshot)
//! lives elsewhere; what only needs to read memory depends on nothing but this crate.
//!
//! Three kinds of address never mix: [`Addr`] in the process, [`Svma`] as written in a module's
//! file, [`FileOff`] in a file. A [`CodeAddr`] remembers whether it is a program counter or a
//! return address, so that nobody forgets the minus one.

#![warn(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used))]

mod access;
mod addr;
mod budget;
mod cursor;
mod fault;
mod moved;
mod operand;
mod space;
mod target;

pub use access::{Access, AccessKind};
pub use addr::{Addr, AddrRange, CodeAddr, FileOff, Svma};
pub use budget::{Allowance, Budget, Built, Cut, Halt, Resource, Watch, sorted_within};
pub use cursor::{Cursor, OutOfBytes};
pub use fault::{Fault, Origin};
pub use moved::{MovedBytes, WithMoved};
pub use operand::{AddressRegister, JumpSource, MemoryOperand};
pub use space::{AddressSpace, Region};
pub use target::{Arch, Endian, Target};
