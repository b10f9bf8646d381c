//! The heap: its blocks, all of them and the one that holds an address.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, AddrRange};

use super::chunk::{self, Chunk, HEADER};
use super::instance::Instance;
use super::large::{self, Large};
use super::region::{self, Region};
use super::{check, history, usage};
use crate::{
    Block, BlockEvent, BlockList, BlockSink, BlockState, Depth, HeapHost, HeapIdentity, ListId,
    NativeHeap, Samples, Torn, Usage, Watch,
    words::{Words, held_parts},
};

/// Blocks that the program freed and nobody may have yet.
const QUARANTINE: ListId = ListId(0);
/// Notes of what is torn.
const MAX_NOTES: usize = 64;

/// AddressSanitizer's allocator in a process.
pub(super) struct Asan {
    identity: HeapIdentity,
    pub(super) instance: Instance,
    /// Where the runtime has its variables.
    pub(super) data: Vec<AddrRange>,
    parts: OnceLock<Parts>,
    pub(super) stacks: OnceLock<history::Notes>,
}

/// What the allocator's object leads to.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Regions, lowest first.
    pub(super) regions: Vec<Region>,
    /// Large blocks, lowest first.
    pub(super) large: Vec<Large>,
    /// Descriptions of regions that are impossible.
    pub(super) torn_regions: Vec<Addr>,
    /// Words that should lead to large blocks.
    pub(super) torn_large: Vec<Addr>,
}

/// What holds a chunk: the memory from the first address up to the second, and all that it takes.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) start: u64,
    pub(super) end: u64,
    whole: AddrRange,
}

impl Extent {
    pub(super) fn of_region(region: &Region, index: u64) -> Self {
        let start = region.chunk(index);
        let whole = AddrRange::with_len(Addr::new(start), region.size);
        Self { start, end: whole.end.get(), whole }
    }

    pub(super) const fn of_large(large: &Large) -> Self {
        Self { start: large.start, end: large.end(), whole: large.whole }
    }

    /// The block that a header tells of.
    pub(super) fn block(&self, chunk: &Chunk) -> Block {
        let (state, at, requested, list) = match *chunk {
            Chunk::Held { at, requested, freed: None, .. } => {
                (BlockState::Used, at, Some(requested), None)
            }
            Chunk::Held { at, requested, .. } => {
                (BlockState::Cached, at, Some(requested), Some(QUARANTINE))
            }
            Chunk::Free => (BlockState::Free, self.start.saturating_add(HEADER), None, None),
            // Whether the program still has it is not known, and the check says so.
            Chunk::Torn { .. } => (BlockState::Used, self.start.saturating_add(HEADER), None, None),
        };
        let usable = requested.unwrap_or_else(|| self.end.saturating_sub(at));
        Block { at: Addr::new(at), usable, whole: self.whole, requested, state, arena: None, list }
    }
}

impl Asan {
    pub(super) const fn new(
        identity: HeapIdentity,
        instance: Instance,
        data: Vec<AddrRange>,
    ) -> Self {
        Self { identity, instance, data, parts: OnceLock::new(), stacks: OnceLock::new() }
    }

    pub(super) fn parts(&self, host: &dyn HeapHost) -> &Parts {
        self.parts.get_or_init(|| {
            let mut words = Words::new(host.space());
            let (regions, torn_regions) = region::read(&mut words, &self.instance);
            let (large, torn_large) = large::read(host, &self.instance);
            Parts { regions, large, torn_regions, torn_large }
        })
    }

    /// Bytes that it has from the system for blocks.
    pub(super) fn mapped(&self, host: &dyn HeapHost) -> u64 {
        self.ranges(host).iter().map(AddrRange::len).fold(0, u64::saturating_add)
    }

    /// What is torn, so that blocks are missing.
    pub(super) fn notes(&self, host: &dyn HeapHost) -> Vec<String> {
        let parts = self.parts(host);
        let regions = parts.torn_regions.iter().map(|at| {
            format!("the description of a region at {at} is impossible: its blocks are missing")
        });
        let large = parts
            .torn_large
            .iter()
            .map(|at| format!("the word at {at} leads to no large block: that block is missing"));
        regions.chain(large).take(MAX_NOTES).collect()
    }

    /// Tells of the extents of chunks within a range, lowest first, and of memory that is not there.
    pub(super) fn each_extent(
        &self,
        host: &dyn HeapHost,
        within: AddrRange,
        tell: &mut dyn FnMut(Extent) -> ControlFlow<()>,
        skip: &mut dyn FnMut(AddrRange),
    ) -> ControlFlow<()> {
        let (held, parts) = (host.regions(), self.parts(host));
        for region in &parts.regions {
            of_region(&held, region, within, tell, skip)?;
        }
        let is_wanted = |large: &&Large| large.whole.intersection(&within).is_some();
        parts.large.iter().filter(is_wanted).try_for_each(|large| tell(Extent::of_large(large)))
    }
}

/// The same in a region, chunk by chunk where there are bytes: no header can claim more.
fn of_region(
    held: &[AddrRange],
    region: &Region,
    within: AddrRange,
    tell: &mut dyn FnMut(Extent) -> ControlFlow<()>,
    skip: &mut dyn FnMut(AddrRange),
) -> ControlFlow<()> {
    let Some(wanted) = region.range().intersection(&within) else {
        return ControlFlow::Continue(());
    };
    let index = |at: Addr| region.chunk_at(at.get()).unwrap_or(region.chunks);
    let mut next = index(wanted.start);
    for part in held_parts(held, wanted) {
        let first = index(part.start).max(next);
        if first > next {
            skip(AddrRange::new(Addr::new(region.chunk(next)), part.start));
        }
        next = index(Addr::new(part.end.get().saturating_sub(1))).saturating_add(1);
        next = next.min(region.chunks);
        (first..next).try_for_each(|index| tell(Extent::of_region(region, index)))?;
    }
    let end = index(Addr::new(wanted.end.get().saturating_sub(1))).saturating_add(1);
    if next < end.min(region.chunks) {
        skip(AddrRange::new(Addr::new(region.chunk(next)), wanted.end));
    }
    ControlFlow::Continue(())
}

impl NativeHeap for Asan {
    fn identity(&self) -> &HeapIdentity {
        &self.identity
    }

    fn ranges(&self, host: &dyn HeapHost) -> Vec<AddrRange> {
        let parts = self.parts(host);
        let large = parts.large.iter().map(|large| large.whole);
        let mut ranges: Vec<_> = parts.regions.iter().map(Region::range).chain(large).collect();
        ranges.sort_unstable();
        ranges
    }

    fn own_ranges(&self, host: &dyn HeapHost) -> Vec<AddrRange> {
        let lists = self.parts(host).regions.iter().map(Region::list_range);
        let (table, count) = self.instance.large;
        let table = AddrRange::with_len(Addr::new(table), count.saturating_mul(8));
        lists.chain([self.instance.infos(), table]).collect()
    }

    fn usage(&self, host: &dyn HeapHost, _depth: Depth, watch: Watch<'_>) -> Option<Usage> {
        usage::usage(self, host, watch)
    }

    fn walk(&self, host: &dyn HeapHost, sink: &mut BlockSink<'_>) -> ControlFlow<()> {
        let within = sink.filter().within;
        let mut words = Words::new(host.space());
        sink.expect(self.mapped(host));
        self.notes(host).into_iter().for_each(|note| sink.note(note));
        let mut skipped = Vec::new();
        let flow = self.each_extent(
            host,
            within,
            &mut |extent| match chunk::read(&mut words, extent.start, extent.end) {
                Some(chunk) => {
                    if let Chunk::Torn { at, why } = chunk {
                        sink.note(format!("{at:x}: {why}: whether it is in use is not known"));
                    }
                    sink.push(&extent.block(&chunk))
                }
                None => {
                    sink.skip(extent.whole);
                    sink.note(format!("{:x}: memory lacks the header of a block", extent.start));
                    ControlFlow::Continue(())
                }
            },
            &mut |range| skipped.push(range),
        );
        skipped.into_iter().for_each(|range| {
            sink.note(format!("memory from {} to {} is missing", range.start, range.end));
            sink.skip(range);
        });
        flow
    }

    fn block_at(&self, host: &dyn HeapHost, at: Addr) -> Option<Block> {
        let parts = self.parts(host);
        let extent = match self.instance.class_at(at.get()) {
            Some(class) => {
                let region = parts.regions.iter().find(|region| region.class == class)?;
                Extent::of_region(region, region.chunk_at(at.get())?)
            }
            None => {
                let end = parts.large.partition_point(|large| large.whole.start <= at);
                let large = parts.large.get(end.checked_sub(1)?)?;
                Extent::of_large(large)
            }
        };
        let mut words = Words::new(host.space());
        let chunk = chunk::read(&mut words, extent.start, extent.end)?;
        Some(extent.block(&chunk)).filter(|block| block.whole.contains(at))
    }

    fn list(&self, _list: ListId) -> BlockList {
        BlockList { name: "the quarantine".into(), thread: None }
    }

    fn arena_name(&self, _arena: u32) -> Option<Arc<str>> {
        None
    }

    fn check(
        &self,
        host: &dyn HeapHost,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
    ) -> Option<()> {
        check::check(self, host, watch, tell)
    }

    fn samples(&self, host: &dyn HeapHost, watch: Watch<'_>) -> Option<Samples> {
        history::samples(self, host, watch)
    }

    fn history(&self, host: &dyn HeapHost, block: &Block) -> Vec<BlockEvent> {
        history::of_block(self, host, block)
    }
}
