//! The duties of a heap that was found.

use std::{ops::ControlFlow, sync::Arc};

use kcore_mem::{Addr, AddrRange};

use crate::{
    Block, BlockEvent, BlockList, BlockSink, Depth, HeapHost, HeapIdentity, ListId, Samples, Torn,
    Usage, Watch,
};

/// One heap of an allocator. The process that it is asked about does not change, so that what was read once may be kept.
/// Memory may be damaged anywhere: what cannot be read is left out and said, and never costs what is whole.
pub trait NativeHeap: Send + Sync {
    /// What it is.
    fn identity(&self) -> &HeapIdentity;

    /// Memory that the allocator had from the system and hands out blocks of, lowest first, without overlaps. Nothing
    /// outside is a block of this heap.
    fn ranges(&self, host: &dyn HeapHost) -> Vec<AddrRange>;

    /// Memory outside of [`ranges`](Self::ranges) that the allocator has for its own structures, such as descriptors, where it
    /// is known; in any order. An address in it says nothing of whether the program still has a block.
    fn own_ranges(&self, host: &dyn HeapHost) -> Vec<AddrRange> {
        let _ = host;
        Vec::new()
    }

    /// *usage*: the totals. `None` when whoever watches stopped it. With [`Depth::Lists`] no block is counted one by one
    /// but those in lists: it must be quick for a heap of any size.
    fn usage(&self, host: &dyn HeapHost, depth: Depth, watch: Watch<'_>) -> Option<Usage>;

    /// *walk*: tells the sink of every block that it wants, lowest address first, in memory that is bounded whatever the
    /// heap claims. It stops soon after the sink breaks, and hands that on.
    fn walk(&self, host: &dyn HeapHost, sink: &mut BlockSink<'_>) -> ControlFlow<()>;

    /// *block*: the block whose usable bytes, or else whose [`Block::whole`], hold `at`, in any state. Walks no more than it must: a page, a slab, a
    /// region.
    fn block_at(&self, host: &dyn HeapHost, at: Addr) -> Option<Block>;

    /// What a list is that a block of this heap named.
    fn list(&self, list: ListId) -> BlockList;

    /// The name of an arena, by [`Block::arena`]; `None` where there is no such arena.
    fn arena_name(&self, arena: u32) -> Option<Arc<str>> {
        Some(arena.to_string().into())
    }

    /// The arena whose structure lies at an address.
    fn arena_at(&self, at: Addr) -> Option<u32> {
        let _ = at;
        None
    }

    /// *check*: tells what is torn in its structures, in the order in which it is found; `None` when whoever watches
    /// stopped it. `tell` may break.
    fn check(
        &self,
        host: &dyn HeapHost,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
    ) -> Option<()>;

    /// The allocations that it sampled itself, where it keeps a profile.
    fn samples(&self, host: &dyn HeapHost, watch: Watch<'_>) -> Option<Samples> {
        let _ = (host, watch);
        None
    }

    /// *history*: what the allocator noted of a block, oldest first; empty where it notes nothing.
    fn history(&self, host: &dyn HeapHost, block: &Block) -> Vec<BlockEvent> {
        let _ = (host, block);
        Vec::new()
    }
}
