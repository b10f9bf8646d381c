//! The note that a snapshot of a live process has no heap.

use kcore_dcmd::{Cx, Result};

/// Notes once that the heap was not copied: an empty answer would look as if the heap were empty.
///
/// # Errors
/// When nobody reads any more.
pub fn note_not_copied(cx: &mut Cx<'_>) -> Result<()> {
    let facts = cx.core().snapshot().facts();
    if !cx.input().first || facts.is_none_or(|facts| facts.reads_later) {
        return Ok(());
    }
    cx.note(
        "the heap was not copied, except what stacks need (--live-memory reads it later from the \
         process)",
    )
}
