//! The heap: its blocks, all of them and the one that holds an address.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, AddrRange};

use super::cache::{CacheBin, Cached, Caches};
use super::classes::Classes;
use super::extent::{Extent, ExtentState};
use super::tree::Tree;
use super::{check, samples, usage};
use crate::{
    Block, BlockList, BlockSink, BlockState, Depth, HeapHost, HeapIdentity, ListId, NativeHeap,
    Samples, Torn, Usage, Watch,
};

/// Lists that are no thread's. Caches of threads have numbers below them.
pub(super) const IN_SLAB: ListId = ListId(u32::MAX);
/// Bytes of a huge page (`LG_HUGEPAGE`).
const HUGE_PAGE: u64 = 2 << 20;
const DIRTY: ListId = ListId(u32::MAX - 1);
const MUZZY: ListId = ListId(u32::MAX - 2);
const RETAINED: ListId = ListId(u32::MAX - 3);

/// A copy of jemalloc in a process.
#[derive(Debug)]
pub(super) struct Jemalloc {
    identity: HeapIdentity,
    pub(super) tree: Tree,
    pub(super) classes: Classes,
    caches: OnceLock<Caches>,
    /// The arenas that have extents, lowest first: the arenas of usage.
    arenas: OnceLock<Vec<u16>>,
}

/// An extent with what is known of its blocks.
pub(super) struct Described {
    pub(super) extent: Extent,
    /// The size of its blocks.
    pub(super) size: u64,
    /// How many there are.
    pub(super) blocks: u64,
}

impl Jemalloc {
    pub(super) const fn new(identity: HeapIdentity, tree: Tree, classes: Classes) -> Self {
        Self { identity, tree, classes, caches: OnceLock::new(), arenas: OnceLock::new() }
    }

    pub(super) fn caches(&self, host: &dyn HeapHost) -> &Caches {
        self.caches.get_or_init(|| Caches::load(host, self.tree.layout.caches, self.classes.small))
    }

    /// The arenas that have extents.
    pub(super) fn arenas(&self, host: &dyn HeapHost) -> &[u16] {
        self.arenas.get_or_init(|| {
            let mut has = vec![false; 1 << 12];
            let _ = self.each_extent(host, everywhere(), &mut |described| {
                if let Some(has) = has.get_mut(usize::from(described.extent.arena)) {
                    *has = true;
                }
                ControlFlow::Continue(())
            });
            (0_u16..).zip(has).filter_map(|(arena, has)| has.then_some(arena)).collect()
        })
    }

    /// The place of an arena among those of usage.
    pub(super) fn arena_index(&self, host: &dyn HeapHost, arena: u16) -> Option<u32> {
        self.arenas(host).binary_search(&arena).ok().and_then(|index| u32::try_from(index).ok())
    }

    /// Tells of every extent in a range, lowest first, but of those that some thread is just changing.
    pub(super) fn each_extent(
        &self,
        host: &dyn HeapHost,
        within: AddrRange,
        tell: &mut dyn FnMut(Described) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.tree.each_entry(host.space(), within, &mut |entry| match self.describe(entry.extent) {
            Some(described) => tell(described),
            None => ControlFlow::Continue(()),
        })
    }

    /// The blocks of an extent; `None` of one whose class is impossible, or that is being changed.
    pub(super) fn describe(&self, extent: Extent) -> Option<Described> {
        match extent.state {
            ExtentState::Changing => None,
            ExtentState::Active => {
                let size = self.block_size(&extent)?;
                let blocks = if extent.is_slab { extent.blocks(size) } else { 1 };
                let fits = extent.is_slab || extent.at.saturating_add(size) <= extent.pages.end;
                (fits && size > 0).then_some(Described { extent, size, blocks })
            }
            _ => Some(Described { extent, size: extent.pages.len(), blocks: 1 }),
        }
    }

    /// The size of the blocks of an active extent. Since 5.3.1 a large one is of any number of pages, and its class is that
    /// of the next greater size.
    fn block_size(&self, extent: &Extent) -> Option<u64> {
        let size = self.classes.size(extent.class)?;
        match extent.is_slab || usize::from(extent.class) < self.classes.small {
            true => Some(size),
            false => extent.pages.len().checked_sub(self.classes.pad),
        }
    }

    /// Tells of the blocks of an extent that lie in a range.
    fn blocks_of(
        &self,
        host: &dyn HeapHost,
        described: &Described,
        within: AddrRange,
        tell: &mut dyn FnMut(&Block) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let arena = self.arena_index(host, described.extent.arena);
        match described.extent.state {
            ExtentState::Active if described.extent.is_slab => {
                self.slab(host, described, arena, within, tell)
            }
            ExtentState::Active => tell(&self.large(host, described, arena)),
            state => tell(&free_pages(&described.extent, state, arena)),
        }
    }

    fn slab(
        &self,
        host: &dyn HeapHost,
        described: &Described,
        arena: Option<u32>,
        within: AddrRange,
        tell: &mut dyn FnMut(&Block) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Described { extent, size, blocks } = described;
        let caches = self.caches(host);
        let cached = caches.within(extent.pages);
        let is_own = caches.holds_stacks(extent.pages);
        let free = extent.bitmap(*blocks);
        let first =
            within.start.offset_from(extent.at).unwrap_or(0).checked_div(*size).unwrap_or(0);
        for index in first..*blocks {
            let at = extent.at.saturating_add(index.wrapping_mul(*size));
            if at >= within.end {
                break;
            }
            let whole = AddrRange::with_len(at, *size);
            let bit =
                free.get(index as usize / 64).copied().unwrap_or(0).wrapping_shr(index as u32 % 64)
                    & 1;
            let (state, list) = match cached_at(cached, at) {
                _ if bit == 1 => (BlockState::Free, Some(IN_SLAB)),
                Some(list) => (BlockState::Cached, Some(list.id())),
                None if is_own && caches.holds_stacks(whole) => (BlockState::Internal, None),
                None => (BlockState::Used, None),
            };
            tell(&Block { at, usable: *size, whole, requested: None, state, arena, list })?;
        }
        ControlFlow::Continue(())
    }

    fn large(&self, host: &dyn HeapHost, described: &Described, arena: Option<u32>) -> Block {
        let Described { extent, size, .. } = described;
        let caches = self.caches(host);
        let cached = cached_at(caches.within(extent.pages), extent.at);
        let state = match cached {
            Some(_) => BlockState::Cached,
            None if caches.holds_stacks(extent.pages) => BlockState::Internal,
            None => BlockState::Used,
        };
        let sample = samples::of_extent(self, extent).filter(|_| state == BlockState::Used);
        Block {
            at: extent.at,
            usable: *size,
            whole: extent.pages,
            requested: sample.and_then(|sample| sample.requested).filter(|bytes| bytes <= size),
            state,
            arena,
            list: cached.map(CacheBin::id),
        }
    }
}

/// All addresses.
pub(super) const fn everywhere() -> AddrRange {
    AddrRange::new(Addr::new(0), Addr::new(u64::MAX))
}

fn cached_at(cached: &[Cached], at: Addr) -> Option<CacheBin> {
    let index = cached.partition_point(|block| block.at < at);
    cached.get(index).filter(|block| block.at == at).map(|block| block.list)
}

fn free_pages(extent: &Extent, state: ExtentState, arena: Option<u32>) -> Block {
    let list = match state {
        ExtentState::Dirty => DIRTY,
        ExtentState::Muzzy => MUZZY,
        _ => RETAINED,
    };
    Block {
        at: extent.pages.start,
        usable: extent.pages.len(),
        whole: extent.pages,
        requested: None,
        state: BlockState::Free,
        arena,
        list: Some(list),
    }
}

impl NativeHeap for Jemalloc {
    fn identity(&self) -> &HeapIdentity {
        &self.identity
    }

    fn ranges(&self, host: &dyn HeapHost) -> Vec<AddrRange> {
        let mut ranges: Vec<AddrRange> = Vec::new();
        let _ = self.each_extent(host, everywhere(), &mut |described| {
            let pages = described.extent.pages;
            match ranges.last_mut() {
                Some(last) if last.end >= pages.start => last.end = last.end.max(pages.end),
                _ => ranges.push(pages),
            }
            ControlFlow::Continue(())
        });
        ranges
    }

    /// Its structures lie in blocks of its base allocator, which take whole huge pages (`base.c`, `HUGEPAGE_CEILING`).
    fn own_ranges(&self, host: &dyn HeapHost) -> Vec<AddrRange> {
        let mut pages = BTreeMap::new();
        let mut enter = |at: Addr| {
            pages.entry(at.get() & !HUGE_PAGE.wrapping_sub(1)).or_insert(at);
        };
        self.tree.leaves().for_each(&mut enter);
        let _ = self.tree.each_entry(host.space(), everywhere(), &mut |entry| {
            enter(entry.extent.descriptor);
            ControlFlow::Continue(())
        });
        let within = |(page, at): (u64, Addr)| {
            let mapping = host.mapping_at(at)?.range;
            let page = AddrRange::with_len(Addr::new(page), HUGE_PAGE);
            Some(AddrRange::new(mapping.start.max(page.start), mapping.end.min(page.end)))
        };
        pages.into_iter().filter_map(within).collect()
    }

    fn usage(&self, host: &dyn HeapHost, _depth: Depth, watch: Watch<'_>) -> Option<Usage> {
        usage::usage(self, host, watch)
    }

    fn walk(&self, host: &dyn HeapHost, sink: &mut BlockSink<'_>) -> ControlFlow<()> {
        let within = sink.filter().within;
        self.each_extent(host, within, &mut |described| {
            self.blocks_of(host, &described, everywhere(), &mut |block| sink.push(block))
        })
    }

    fn block_at(&self, host: &dyn HeapHost, at: Addr) -> Option<Block> {
        let described = self.describe(self.tree.extent_at(host.space(), at)?)?;
        let mut found = None;
        let within = AddrRange::with_len(at, 1);
        let _ = self.blocks_of(host, &described, within, &mut |block| {
            found = Some(*block).filter(|block| block.whole.contains(at));
            ControlFlow::Break(())
        });
        found
    }

    fn list(&self, list: ListId) -> BlockList {
        let name = match list {
            IN_SLAB => "bitmap of its slab".into(),
            DIRTY => "dirty pages".into(),
            MUZZY => "muzzy pages".into(),
            RETAINED => "retained pages".into(),
            _ => format!("tcache bin {}", CacheBin::from_id(list).class).into(),
        };
        let cache = CacheBin::from_id(list).cache as usize;
        let caches = self.caches.get().map(|caches| caches.caches.as_slice()).unwrap_or_default();
        BlockList { name, thread: caches.get(cache).map(|cache| cache.thread) }
    }

    fn arena_name(&self, arena: u32) -> Option<Arc<str>> {
        let number = self.arenas.get()?.get(usize::try_from(arena).ok()?)?;
        Some(number.to_string().into())
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
        samples::samples(self, host, watch)
    }
}
