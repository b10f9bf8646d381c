//! Machine code: one instruction, what it does to the flow, and which memory it touches.
//!
//! capstone decodes and prints (AT&T syntax on x86-64); nothing else in kcore sees it. Symbols,
//! columns and the mark at the current instruction are the renderer's. A [`Disassembler`] is
//! cheap and not `Sync`: make one for each command.

#![warn(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::arithmetic_side_effects
    )
)]

mod access;
mod arch;
mod backwards;
mod computation;
mod disassembler;
mod instruction;
mod operand;
mod references;
mod register_write;

pub use computation::{Computation, RegisterSum};
pub use disassembler::{Disassembler, Unsupported};
pub use instruction::{Flow, Instruction};
pub use references::Reference;
pub use register_write::RegisterWrite;
