//! What leads to which block: by any word that holds an address within one.

mod marks;
mod roots;
mod scanner;
mod spread;
mod table;

use std::ops::ControlFlow;

use kcore_mem::AddrRange;

pub use marks::{Marks, WORD, numbers_in};
pub use roots::pieces;
pub use scanner::Scanner;
pub use spread::Spread;
pub use table::{BlockTable, MAX_BLOCKS, TableBlock};

use super::{BlockFilter, BlockStates, HeapView, Watch};

impl HeapView<'_> {
    /// The blocks in use of all heaps, and what could not be walked. `None` when whoever watches stopped it.
    pub(super) fn table(&self, watch: Watch<'_>) -> Option<(BlockTable, Vec<String>)> {
        let (table, notes, _) = self.table_and_rest(watch)?;
        Some((table, notes))
    }

    /// The same, with the memory of heaps that was not walked.
    pub(super) fn table_and_rest(
        &self,
        watch: Watch<'_>,
    ) -> Option<(BlockTable, Vec<String>, Vec<AddrRange>)> {
        let filter = BlockFilter::of_states(BlockStates::USED);
        let mut builder = BlockTable::builder();
        let (mut notes, mut rest) = (Vec::new(), Vec::new());
        let mut has_room = true;
        for (heap, _) in self.found().all() {
            let walked = self.walked(heap, filter, watch, &mut |blocks| {
                for block in blocks {
                    // The header of a block is no part of it: in glibc it overlaps the block before.
                    let range = block.range();
                    // A pointer to a block of no bytes keeps it as well.
                    let end = range.end.get().max(range.start.get().saturating_add(1));
                    has_room = has_room && builder.push(range.start.get(), end);
                }
                if has_room { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            let (own_notes, skipped) = walked?;
            notes.extend(own_notes);
            rest.extend(skipped);
        }
        if !has_room {
            notes.push(format!("only the first {MAX_BLOCKS} blocks were looked at"));
        }
        Some((builder.finish(), notes, rest))
    }
}
