//! The heap: its blocks, all of them and the one that holds an address.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::cache::{CachedBlock, Caches, Holder, of_list};
use super::descriptors::Descriptors;
use super::map::{EVERYWHERE, Map};
use super::objects::Objects;
use super::samples::{self, Sampled};
use super::span::{Content, Span};
use super::transfer::Central;
use super::{check, usage};
use crate::{
    Block, BlockList, BlockSink, BlockState, Depth, HeapHost, HeapIdentity, ListId, NativeHeap,
    Samples, Torn, Usage, Watch,
};

/// The list of blocks that a span has not handed out.
const IN_SPAN: ListId = ListId(u32::MAX);
/// The bits of addresses that say what memory is for, and those of the allocator's own (`MemoryTag::kMetadata`).
const TAG_BIT: u32 = 42;
const TAG_MASK: u64 = 7;
const METADATA: u64 = 3;

/// A copy of Google's tcmalloc in a process.
#[derive(Debug)]
pub(super) struct Google {
    pub(super) identity: HeapIdentity,
    pub(super) map: Map,
    pub(super) descriptors: Descriptors,
    /// The sizes of all classes.
    pub(super) sizes: Vec<u64>,
    pub(super) central: Option<Central>,
    pub(super) caches: Caches,
    /// Small blocks that stand for sampled ones.
    pub(super) proxies: OnceLock<Vec<Addr>>,
}

/// Where a block of a span is asked for: what is known of all of them.
struct SmallBlocks<'h> {
    objects: Objects,
    cached: &'h [CachedBlock],
    proxies: &'h [Addr],
}

impl Google {
    /// Tells of all spans that begin in a range or hold its begin, lowest first.
    pub(super) fn each_span(
        &self,
        space: &dyn AddressSpace,
        within: AddrRange,
        tell: &mut dyn FnMut(Span) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.map.each_span(space, &self.descriptors, within, tell)
    }

    /// The span that holds an address.
    pub(super) fn span_at(&self, space: &dyn AddressSpace, at: Addr) -> Option<Span> {
        self.map.span_at(space, &self.descriptors, at)
    }

    /// The size of the blocks of a class; `None` where the class is none.
    pub(super) fn size_of(&self, class: u16) -> Option<u64> {
        self.sizes.get(usize::from(class)).copied().filter(|size| *size > 0)
    }

    /// The blocks of a span that it has not handed out.
    pub(super) fn objects(&self, space: &dyn AddressSpace, span: &Span, size: u64) -> Objects {
        Objects::of(space, self.map.layout, span, size)
    }

    /// The blocks of caches whose addresses lie in a range.
    pub(super) fn cached_in(&self, range: AddrRange) -> &[CachedBlock] {
        within(&self.caches.blocks, range, |block| block.at)
    }

    /// The small blocks that stand for sampled ones, and whose addresses lie in a range.
    pub(super) fn proxies_in(&self, space: &dyn AddressSpace, range: AddrRange) -> &[Addr] {
        let proxies = self.proxies.get_or_init(|| samples::proxies(self, space));
        within(proxies, range, |at| *at)
    }

    /// Tells of the blocks of a span that begin in a range or hold its begin, lowest first.
    fn blocks_of(
        &self,
        space: &dyn AddressSpace,
        span: &Span,
        within: AddrRange,
        tell: &mut dyn FnMut(&Block) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match span.content {
            Content::Large => tell(&whole(span)),
            Content::Sampled(at) => tell(&sampled(space, span, at)),
            Content::Small(class) => match self.size_of(class) {
                Some(size) => self.small(space, span, size, within, tell),
                None => ControlFlow::Continue(()),
            },
        }
    }

    fn small(
        &self,
        space: &dyn AddressSpace,
        span: &Span,
        size: u64,
        within: AddrRange,
        tell: &mut dyn FnMut(&Block) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let known = SmallBlocks {
            objects: self.objects(space, span, size),
            cached: self.cached_in(span.range),
            proxies: self.proxies_in(space, span.range),
        };
        let into = within.start.offset_from(span.range.start).unwrap_or(0);
        for index in into.checked_div(size).unwrap_or(0)..span.blocks(size) {
            let at = span.range.start.saturating_add(index.saturating_mul(size));
            if at >= within.end {
                break;
            }
            let (state, list) = known.state(index, at);
            let whole = AddrRange::with_len(at, size);
            tell(&Block { at, usable: size, whole, requested: None, state, arena: Some(0), list })?;
        }
        ControlFlow::Continue(())
    }
}

impl SmallBlocks<'_> {
    fn state(&self, index: u64, at: Addr) -> (BlockState, Option<ListId>) {
        let in_cache = self.cached.binary_search_by_key(&at, |block| block.at).ok();
        let in_cache = in_cache.and_then(|index| self.cached.get(index));
        match in_cache {
            _ if self.objects.is_free(index) => (BlockState::Free, Some(IN_SPAN)),
            Some(block) => (BlockState::Cached, Some(block.list())),
            None if self.proxies.binary_search(&at).is_ok() => (BlockState::Internal, None),
            None => (BlockState::Used, None),
        }
    }
}

/// The part of a list in order of addresses that lies in a range.
fn within<T>(all: &[T], range: AddrRange, at: impl Fn(&T) -> Addr) -> &[T] {
    let from = all.partition_point(|it| at(it) < range.start);
    let to = all.partition_point(|it| at(it) < range.end);
    all.get(from..to).unwrap_or_default()
}

/// The block that a span is.
fn whole(span: &Span) -> Block {
    Block {
        at: span.range.start,
        usable: span.range.len(),
        whole: span.range,
        requested: None,
        state: BlockState::Used,
        arena: Some(0),
        list: None,
    }
}

fn sampled(space: &dyn AddressSpace, span: &Span, at: Addr) -> Block {
    let sampled = Sampled::load(space, at, span.range);
    let usable = sampled.map_or(span.range.len(), |sampled| sampled.given);
    Block { usable, requested: sampled.map(|sampled| sampled.requested), ..whole(span) }
}

impl NativeHeap for Google {
    fn identity(&self) -> &HeapIdentity {
        &self.identity
    }

    fn ranges(&self, host: &dyn HeapHost) -> Vec<AddrRange> {
        let mut ranges: Vec<AddrRange> = Vec::new();
        let _ = self.each_span(host.space(), EVERYWHERE, &mut |span| {
            match ranges.last_mut() {
                Some(last) if last.end >= span.range.start => {
                    last.end = last.end.max(span.range.end);
                }
                _ => ranges.push(span.range),
            }
            ControlFlow::Continue(())
        });
        ranges
    }

    fn own_ranges(&self, host: &dyn HeapHost) -> Vec<AddrRange> {
        let is_own = |at: Addr| at.get().wrapping_shr(TAG_BIT) & TAG_MASK == METADATA;
        let of_leaf = |leaf: Addr| {
            let mapping = host.mapping_at(leaf).map(|mapping| mapping.range);
            let apart = mapping.filter(|range| is_own(range.start) && is_own(range.end));
            apart.unwrap_or(AddrRange::with_len(leaf, self.map.layout.leaf_bytes()))
        };
        AddrRange::merged(self.map.leaves().map(of_leaf))
    }

    fn usage(&self, host: &dyn HeapHost, _depth: Depth, watch: Watch<'_>) -> Option<Usage> {
        usage::usage(self, host, watch)
    }

    fn walk(&self, host: &dyn HeapHost, sink: &mut BlockSink<'_>) -> ControlFlow<()> {
        let within = sink.filter().within;
        self.each_span(host.space(), within, &mut |span| {
            self.blocks_of(host.space(), &span, EVERYWHERE, &mut |block| sink.push(block))
        })
    }

    fn block_at(&self, host: &dyn HeapHost, at: Addr) -> Option<Block> {
        let span = self.span_at(host.space(), at)?;
        let mut found = None;
        let _ = self.blocks_of(host.space(), &span, AddrRange::with_len(at, 1), &mut |block| {
            found = Some(*block).filter(|block| block.whole.contains(at));
            ControlFlow::Break(())
        });
        found
    }

    fn list(&self, list: ListId) -> BlockList {
        let (cache, class) = of_list(list);
        let size = self.sizes.get(class).copied().unwrap_or(0);
        let holder = self.caches.caches.get(cache).map(|cache| cache.holder);
        let (name, thread) = match holder {
            _ if list == IN_SPAN => ("free blocks of its span".into(), None),
            Some(Holder::Processor(number)) => {
                (format!("cache of processor {number}, {size} bytes").into(), None)
            }
            Some(Holder::Thread(thread)) => {
                (format!("thread cache of {size} bytes").into(), thread)
            }
            _ => (format!("transfer cache of {size} bytes").into(), None),
        };
        BlockList { name, thread }
    }

    fn arena_name(&self, arena: u32) -> Option<Arc<str>> {
        (arena == 0).then(|| "page heap".into())
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
