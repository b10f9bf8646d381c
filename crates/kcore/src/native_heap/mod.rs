//! The heaps of native allocators in a process: malloc's, and those of others.
//!
//! [`Core::heaps`] looks for them when it is first asked. What an address is of a heap, and what all heaps hold, are
//! questions to [`HeapView`].

mod host;
mod leaks;
mod paths;
#[cfg(feature = "live")]
mod profile;
mod reach;
mod retained;
mod text;
mod types;

use std::{
    ops::ControlFlow,
    sync::{Arc, OnceLock},
};

use kcore_mem::{Addr, AddrRange, Built};

pub use kcore_heap::{
    ALLOCATORS, Allocator, Amount, ArenaUsage, Block, BlockEvent, BlockEventKind, BlockFilter,
    BlockList, BlockSink, BlockState, BlockStates, CacheUsage, Depth, Detected, Equality, HeapHost,
    HeapIdentity, HeapMapping, HeapModule, HeapNumber, Heaps, ListId, NativeHeap, OwnFigure,
    Refused, Sample, Samples, Torn, TornKind, Usage, Watch,
};
pub use leaks::{Leak, Leaks};
pub use paths::{BlockPath, BlockPointer, BlockReach, BlockRoot};
pub use retained::{Keeper, RetainedBlocks, RetainedError, RetainedSize};
pub use text::WrittenText;
pub use types::{BlockRole, BlockType, BlockTypes, TypeSource};

use crate::Core;

/// What is known of native heaps, once somebody asked.
#[derive(Default)]
pub(crate) struct HeapCache {
    heaps: Built<Arc<Heaps>>,
    mappings: OnceLock<Vec<HeapMapping>>,
    types: OnceLock<Arc<BlockTypes>>,
    retained: OnceLock<Arc<RetainedBlocks>>,
}

/// Questions about native heaps: see [`Core::heaps`].
#[derive(Clone, Copy)]
pub struct HeapView<'c> {
    core: &'c Core,
}

/// A block, and what holds it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OwnedBlock {
    /// The heap.
    pub heap: HeapNumber,
    /// The allocator's name.
    pub allocator: &'static str,
    /// The block.
    pub block: Block,
    /// The list that has it, of a block that is free or cached.
    pub list: Option<BlockList>,
}

impl OwnedBlock {
    /// Whether the program has given it back, so that nothing of the program's lies there any more.
    pub const fn is_given_back(&self) -> bool {
        matches!(self.block.state, BlockState::Cached | BlockState::Free)
    }
}

impl Core {
    /// The heaps of native allocators.
    pub const fn heaps(&self) -> HeapView<'_> {
        HeapView { core: self }
    }
}

impl<'c> HeapView<'c> {
    /// The heaps that the process holds, and those that cannot be read.
    pub fn found(&self) -> &'c Heaps {
        let find = || Arc::new(Heaps::find(ALLOCATORS, self.core));
        self.core.native_heaps.heaps.get_or_build(self.core.budget(), find)
    }

    /// The block that holds `at`, in any state.
    pub fn block_at(&self, at: Addr) -> Option<OwnedBlock> {
        let (heap, block) = self.found().block_at(self.core, at)?;
        self.owned(heap, block)
    }

    /// A block of a heap with what the heap says of it.
    pub fn owned(&self, heap: HeapNumber, block: Block) -> Option<OwnedBlock> {
        let owner = self.found().get(heap)?;
        let list = block.list.map(|list| owner.list(list));
        Some(OwnedBlock { heap, allocator: owner.identity().allocator, block, list })
    }

    /// The totals of a heap; `None` when whoever watches stopped it, or there is no such heap.
    pub fn usage(&self, heap: HeapNumber, depth: Depth, watch: Watch<'_>) -> Option<Usage> {
        self.found().get(heap)?.usage(self.core, depth, watch)
    }

    /// Tells of the blocks of a heap that are wanted, in batches, lowest address first, and says what could not be
    /// walked. `None` when whoever watches stopped it, or there is no such heap.
    pub fn each_block(
        &self,
        heap: HeapNumber,
        filter: BlockFilter,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(&[Block]) -> ControlFlow<()>,
    ) -> Option<Vec<String>> {
        Some(self.walked(heap, filter, watch, tell)?.0)
    }

    /// The same, with the memory that was not walked.
    fn walked(
        &self,
        heap: HeapNumber,
        filter: BlockFilter,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(&[Block]) -> ControlFlow<()>,
    ) -> Option<(Vec<String>, Vec<AddrRange>)> {
        let owner = self.found().get(heap)?;
        let (mut is_stopped, mut has_broken) = (false, false);
        let mut watching = |done, total| {
            let flow = watch(done, total);
            is_stopped |= flow.is_break();
            flow
        };
        let mut telling = |blocks: &[Block]| {
            let flow = tell(blocks);
            has_broken |= flow.is_break();
            flow
        };
        let mut sink = BlockSink::new(filter, &mut watching, &mut telling);
        if owner.walk(self.core, &mut sink).is_continue() {
            // Whether the last batch was wanted changes nothing.
            let _ = sink.flush();
        }
        let skipped = sink.skipped().to_vec();
        let notes = sink.into_notes();
        (!is_stopped || has_broken).then_some((notes, skipped))
    }

    /// Tells of what is torn in a heap; `None` when whoever watches stopped it, or there is no such heap.
    pub fn check(
        &self,
        heap: HeapNumber,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
    ) -> Option<()> {
        self.found().get(heap)?.check(self.core, watch, tell)
    }

    /// The first thing that is torn in any heap, as far as the command has time to look.
    pub fn first_torn(&self) -> Option<Torn> {
        let mut found = None;
        let budget = self.core.budget();
        let mut watch = |_, _| match budget.halt() {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        };
        for (_, heap) in self.found().all() {
            heap.check(self.core, &mut watch, &mut |torn| {
                found = Some(torn);
                ControlFlow::Break(())
            });
            if found.is_some() {
                break;
            }
        }
        found
    }

    /// The allocations that a heap sampled itself; `None` where it keeps no profile.
    pub fn samples(&self, heap: HeapNumber, watch: Watch<'_>) -> Option<Samples> {
        self.found().get(heap)?.samples(self.core, watch)
    }

    /// What the allocator noted of a block, oldest first; empty where it notes nothing.
    pub fn history(&self, block: &OwnedBlock) -> Vec<BlockEvent> {
        let owner = self.found().get(block.heap);
        owner.map(|owner| owner.history(self.core, &block.block)).unwrap_or_default()
    }

    /// The name of an arena of a heap, where its block says which.
    pub fn arena_name(&self, block: &OwnedBlock) -> Option<Arc<str>> {
        let arena = block.block.arena?;
        self.found().get(block.heap)?.arena_name(arena)
    }

    /// The arena of a heap whose structure lies at an address.
    pub fn arena_at(&self, heap: HeapNumber, at: Addr) -> Option<u32> {
        self.found().get(heap)?.arena_at(at)
    }
}
