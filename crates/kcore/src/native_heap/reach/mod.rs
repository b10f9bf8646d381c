//! What leads to which block: by any word that holds an address within one.

mod marks;
mod roots;
mod scanner;
mod spread;
mod table;

use std::ops::ControlFlow;

pub use marks::{Marks, WORD, numbers_in};
pub use roots::pieces;
pub use scanner::Scanner;
pub use spread::Spread;
pub use table::{BlockTable, MAX_BLOCKS, TableBlock};

use super::{BlockFilter, BlockStates, HeapView, Watch};

impl HeapView<'_> {
    /// The blocks in use of all heaps, and what could not be walked. `None` when whoever watches stopped it.
    pub(super) fn table(&self, watch: Watch<'_>) -> Option<(BlockTable, Vec<String>)> {
        let filter = BlockFilter::of_states(BlockStates::USED);
        let mut builder = BlockTable::builder();
        let mut notes = Vec::new();
        let mut has_room = true;
        for (heap, _) in self.found().all() {
            notes.extend(self.each_block(heap, filter, watch, &mut |blocks| {
                for block in blocks {
                    // The header of a block is no part of it: in glibc it overlaps the block before.
                    let range = block.range();
                    // A pointer to a block of no bytes keeps it as well.
                    let end = range.end.get().max(range.start.get().saturating_add(1));
                    has_room = has_room && builder.push(range.start.get(), end);
                }
                if has_room { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?);
        }
        if !has_room {
            notes.push(format!("only the first {MAX_BLOCKS} blocks were looked at"));
        }
        Some((builder.finish(), notes))
    }
}
