//! An allocation that failed, for which Rust's standard library ends the process.
//!
//! `alloc::alloc::handle_alloc_error` calls `__rust_alloc_error_handler(size: usize, align: usize)` with the layout
//! (`library/alloc/src/alloc.rs`, Rust 1.63 to 1.95), which is in no memory but that of its callers.

use super::super::{DyingFrame, LastWords};
use crate::{Core, Stack};

/// The handler, whose first argument is the size: what is before its name differs between versions.
#[cfg(feature = "disassembly")]
const HANDLER: &str = "__rust_alloc_error_handler";
/// What ends the process, of which the program may have another.
const ENDERS: [&str; 2] = ["std::alloc::rust_oom", "alloc::alloc::handle_alloc_error"];

/// The words that the standard library prints, with the size if that is certain.
pub fn find(core: &Core, stack: &Stack, frames: &[DyingFrame]) -> Option<LastWords> {
    let is_end = |frame: &DyingFrame| ENDERS.contains(&&*frame.function);
    frames.iter().position(is_end)?;
    let size = size(core, stack, frames);
    let message = match size {
        Some(size) => format!("memory allocation of {size} bytes failed"),
        None => "memory allocation failed".to_owned(),
    };
    Some(LastWords::Fatal { message, trace: Vec::new() })
}

/// The size, as the code of callers has it.
#[cfg(feature = "disassembly")]
fn size(core: &Core, stack: &Stack, frames: &[DyingFrame]) -> Option<u64> {
    let is_handler = |frame: &DyingFrame| frame.function.ends_with(HANDLER);
    let caller = frames.iter().position(is_handler)?.checked_add(1)?;
    core.passed_number(stack, caller, 0)
}

#[cfg(not(feature = "disassembly"))]
const fn size(_: &Core, _: &Stack, _: &[DyingFrame]) -> Option<u64> {
    None
}
