//! The heap: its blocks, all of them and the one that holds an address.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, AddrRange, AddressSpace};
use kcore_unwind::Tid;

use super::layout::Layout;
use super::lists::{DELAYED, FREE, FreeBlocks, LOCAL, THREAD};
use super::map::Map;
use super::page::{Page, decode};
use super::segments::Segment;
use super::{check, usage};
use crate::{
    Block, BlockList, BlockSink, BlockState, Depth, HeapHost, HeapIdentity, ListId, NativeHeap,
    Torn, Usage, Watch,
};

/// Blocks of the lists of all heaps that are followed, at most.
const MAX_DELAYED: usize = 1 << 20;

/// What leads to the pages.
#[derive(Debug)]
pub(super) enum Root {
    /// Of 2.x.
    Segments(Vec<Segment>),
    /// Of 3.x.
    Map(Map),
}

impl Root {
    /// All pages, lowest first.
    pub(super) fn pages(&self, host: &dyn HeapHost, layout: &Layout) -> Vec<Page> {
        let mut pages = match (self, &layout.segment) {
            (Self::Segments(segments), Some(own)) => segments
                .iter()
                .flat_map(|segment| segment.pages(host.space(), layout, own))
                .collect(),
            (Self::Map(map), _) => map.pages(host, layout),
            _ => Vec::new(),
        };
        pages.sort_unstable_by_key(|page| page.start);
        let mut end = Addr::new(0);
        // Two pages with the same blocks cannot be.
        pages.retain(|page| {
            let is_apart = page.start >= end;
            if is_apart {
                end = page.range().end;
            }
            is_apart
        });
        pages
    }
}

/// A copy of mimalloc in a process.
#[derive(Debug)]
pub(super) struct Mimalloc {
    identity: HeapIdentity,
    pub(super) layout: Layout,
    pub(super) root: Root,
    known: OnceLock<Survey>,
}

/// What was read once.
#[derive(Debug)]
pub(super) struct Survey {
    /// All pages, lowest first.
    pub(super) pages: Vec<Page>,
    /// The heaps that pages belong to: the arenas of usage, lowest first; null for pages of threads that are gone.
    pub(super) heaps: Vec<OwnHeap>,
    /// Blocks that other threads freed and heaps have in a list, lowest first.
    pub(super) delayed: Vec<Addr>,
}

/// A heap in mimalloc's words: a thread's.
#[derive(Clone, Debug)]
pub(super) struct OwnHeap {
    /// Where it lies; in 3.x the thread pointer of its thread stands for it.
    pub(super) at: Addr,
    /// Whether that is so.
    pub(super) is_thread: bool,
    /// The threads that have pages of it.
    pub(super) threads: Vec<Tid>,
}

impl OwnHeap {
    /// Its address, or its thread; pages of threads that are gone have none.
    pub(super) fn name(&self) -> Arc<str> {
        match (self.at.get(), self.is_thread, self.threads.first()) {
            (0, ..) => "abandoned".into(),
            (_, true, Some(thread)) => format!("thread {thread}").into(),
            (_, true, None) => "ended thread".into(),
            (at, false, _) => format!("{at:x}").into(),
        }
    }
}

impl Mimalloc {
    pub(super) const fn new(identity: HeapIdentity, layout: Layout, root: Root) -> Self {
        Self { identity, layout, root, known: OnceLock::new() }
    }

    pub(super) fn known(&self, host: &dyn HeapHost) -> &Survey {
        self.known.get_or_init(|| {
            let pages = self.root.pages(host, &self.layout);
            let is_thread = self.layout.segment.is_none();
            let heaps = heaps(host, &pages, is_thread);
            let delayed = self.delayed(host.space(), &heaps);
            Survey { pages, heaps, delayed }
        })
    }

    /// Follows the lists of blocks that other threads freed.
    fn delayed(&self, space: &dyn AddressSpace, heaps: &[OwnHeap]) -> Vec<Addr> {
        let Some(own) = &self.layout.segment else { return Vec::new() };
        let mut found = Vec::new();
        for heap in heaps.iter().filter(|heap| heap.at.get() > 0) {
            let word = |offset: u64| space.read_word(heap.at.saturating_add(offset)).ok();
            let keys =
                self.layout.page.keys.and_then(|_| {
                    Some([word(own.delayed.1)?, word(own.delayed.1.saturating_add(8))?])
                });
            // The head is plain, and so is the end where links are.
            let mut next = word(own.delayed.0).filter(|head| *head > 0).map(Addr::new);
            while let Some(at) = next.filter(|_| found.len() < MAX_DELAYED) {
                found.push(at);
                next = space.read_word(at).ok().and_then(|link| decode(keys, heap.at, link));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(super) fn arena_of(&self, host: &dyn HeapHost, page: &Page) -> Option<u32> {
        let index = self.known(host).heaps.binary_search_by_key(&page.heap, |heap| heap.at).ok()?;
        u32::try_from(index).ok()
    }

    /// Tells of the blocks of a page that lie in a range, lowest first.
    pub(super) fn blocks_of(
        &self,
        host: &dyn HeapHost,
        page: &Page,
        within: AddrRange,
        tell: &mut dyn FnMut(&Block) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let free = FreeBlocks::of(host.space(), page);
        let arena = self.arena_of(host, page);
        let delayed = &self.known(host).delayed;
        let first = within
            .start
            .offset_from(page.start)
            .unwrap_or(0)
            .checked_div(page.block_size)
            .unwrap_or(0);
        for index in first..page.capacity {
            let whole = page.block(index);
            if whole.start >= within.end {
                break;
            }
            let is_delayed = || delayed.binary_search(&whole.start).is_ok();
            let list = free.list(index).or_else(|| is_delayed().then_some(DELAYED));
            let padded = if list.is_none() { page.padded(host.space(), whole) } else { None };
            let block = Block {
                at: whole.start,
                usable: padded.unwrap_or(page.block_size),
                whole,
                // After a `realloc` in place the word tells of the first request.
                requested: None,
                state: if list.is_some() { BlockState::Free } else { BlockState::Used },
                arena,
                list,
            };
            tell(&block)?;
        }
        ControlFlow::Continue(())
    }
}

/// The heaps of pages, each once, and whose they are.
fn heaps(host: &dyn HeapHost, pages: &[Page], is_thread: bool) -> Vec<OwnHeap> {
    let threads: Vec<(u64, Tid)> = host
        .threads()
        .into_iter()
        .filter_map(|thread| Some((host.thread_pointer(thread)?.get(), thread)))
        .collect();
    let mut heaps: BTreeMap<Addr, BTreeSet<Tid>> = BTreeMap::new();
    for page in pages {
        let owner = threads.iter().find(|(pointer, _)| *pointer == page.thread);
        heaps.entry(page.heap).or_default().extend(owner.map(|(_, thread)| *thread));
    }
    let own = |(at, threads): (Addr, BTreeSet<Tid>)| {
        let threads = threads.into_iter().collect();
        OwnHeap { at, is_thread, threads }
    };
    heaps.into_iter().map(own).collect()
}

impl NativeHeap for Mimalloc {
    fn identity(&self) -> &HeapIdentity {
        &self.identity
    }

    fn ranges(&self, host: &dyn HeapHost) -> Vec<AddrRange> {
        let mut ranges: Vec<AddrRange> = Vec::new();
        for page in &self.known(host).pages {
            let range = page.range();
            match ranges.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => ranges.push(range),
            }
        }
        ranges
    }

    fn usage(&self, host: &dyn HeapHost, _depth: Depth, watch: Watch<'_>) -> Option<Usage> {
        usage::usage(self, host, watch)
    }

    fn walk(&self, host: &dyn HeapHost, sink: &mut BlockSink<'_>) -> ControlFlow<()> {
        let within = sink.filter().within;
        let pages = &self.known(host).pages;
        let wanted = pages.iter().filter(|page| page.range().intersection(&within).is_some());
        for page in wanted {
            self.blocks_of(
                host,
                page,
                AddrRange::new(Addr::new(0), Addr::new(u64::MAX)),
                &mut |block| sink.push(block),
            )?;
        }
        ControlFlow::Continue(())
    }

    fn block_at(&self, host: &dyn HeapHost, at: Addr) -> Option<Block> {
        let pages = &self.known(host).pages;
        let index = pages.partition_point(|page| page.start <= at).checked_sub(1)?;
        let page = pages.get(index).filter(|page| page.range().contains(at))?;
        let mut found = None;
        let _ = self.blocks_of(host, page, AddrRange::with_len(at, 1), &mut |block| {
            found = Some(*block);
            ControlFlow::Break(())
        });
        found
    }

    fn list(&self, list: ListId) -> BlockList {
        let name = match list {
            FREE => "free list of its page",
            LOCAL => "local free list of its page",
            THREAD => "thread free list of its page",
            _ => "delayed free list of its heap",
        };
        BlockList { name: name.into(), thread: None }
    }

    fn arena_name(&self, arena: u32) -> Option<Arc<str>> {
        let own = self.known.get()?.heaps.get(usize::try_from(arena).ok()?)?;
        Some(own.name())
    }

    fn arena_at(&self, at: Addr) -> Option<u32> {
        let heaps = &self.known.get()?.heaps;
        let index = heaps.binary_search_by_key(&at, |heap| heap.at).ok()?;
        let is_heap = heaps.get(index).is_some_and(|heap| !heap.is_thread);
        u32::try_from(index).ok().filter(|_| is_heap)
    }

    fn check(
        &self,
        host: &dyn HeapHost,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
    ) -> Option<()> {
        check::check(self, host, watch, tell)
    }
}
