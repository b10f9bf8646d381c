//! The heap: its blocks, all of them and the one that holds an address.

use std::ops::ControlFlow;
use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};

use super::cache::{Cached, Caches, TRANSFER};
use super::map::Map;
use super::span::{Location, Objects, Span};
use super::{check, samples, usage};
use crate::{
    Block, BlockList, BlockSink, BlockState, Depth, HeapHost, HeapIdentity, ListId, NativeHeap,
    Samples, Torn, Usage, Watch,
};

const IN_SPAN: ListId = ListId(u32::MAX);
const NORMAL: ListId = ListId(u32::MAX - 1);
const RETURNED: ListId = ListId(u32::MAX - 2);

/// A copy of tcmalloc in a process.
#[derive(Debug)]
pub(super) struct Tcmalloc {
    identity: HeapIdentity,
    pub(super) map: Map,
    pub(super) caches: Caches,
}

impl Tcmalloc {
    pub(super) const fn new(identity: HeapIdentity, map: Map, caches: Caches) -> Self {
        Self { identity, map, caches }
    }

    /// The size of the blocks of a span; `None` of one that holds a large block, or whose class is none.
    pub(super) fn block_size(&self, span: &Span) -> Option<u64> {
        self.caches.sizes.get(usize::from(span.class)).copied().filter(|size| *size > 0)
    }

    /// The blocks of caches whose addresses lie in a range.
    pub(super) fn cached_in(&self, range: AddrRange) -> &[Cached] {
        let blocks = &self.caches.blocks;
        let from = blocks.partition_point(|block| block.at < range.start);
        let to = blocks.partition_point(|block| block.at < range.end);
        blocks.get(from..to).unwrap_or_default()
    }

    /// Tells of the blocks of a span that lie in a range, lowest first.
    fn blocks_of(
        &self,
        host: &dyn HeapHost,
        span: &Span,
        within: AddrRange,
        tell: &mut dyn FnMut(&Block) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match span.location {
            Location::InUse if span.class == 0 => tell(&self.large(host, span)),
            Location::InUse => match self.block_size(span) {
                Some(size) => self.small(host, span, size, within, tell),
                None => ControlFlow::Continue(()),
            },
            Location::Normal => tell(&whole(span, BlockState::Free, Some(NORMAL))),
            Location::Returned => tell(&whole(span, BlockState::Free, Some(RETURNED))),
        }
    }

    fn small(
        &self,
        host: &dyn HeapHost,
        span: &Span,
        size: u64,
        within: AddrRange,
        tell: &mut dyn FnMut(&Block) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let objects = Objects::of(host.space(), span, size);
        let cached = self.cached_in(span.range);
        let first =
            within.start.offset_from(span.range.start).unwrap_or(0).checked_div(size).unwrap_or(0);
        for index in first..span.blocks(size) {
            let at = span.range.start.saturating_add(index.saturating_mul(size));
            if at >= within.end {
                break;
            }
            let in_cache = cached.binary_search_by_key(&at, |block| block.at).ok();
            let in_cache = in_cache.and_then(|index| cached.get(index)).map(|block| block.list());
            let (state, list) = match in_cache {
                _ if objects.is_free(index) => (BlockState::Free, Some(IN_SPAN)),
                Some(list) => (BlockState::Cached, Some(list)),
                None => (BlockState::Used, None),
            };
            let whole = AddrRange::with_len(at, size);
            tell(&Block { at, usable: size, whole, requested: None, state, arena: Some(0), list })?;
        }
        ControlFlow::Continue(())
    }

    /// A block with a span of its own. One that was sampled has the size of the class that it would have had.
    fn large(&self, host: &dyn HeapHost, span: &Span) -> Block {
        let requested = samples::requested(host.space(), span);
        let class = requested.and_then(|requested| {
            self.caches.sizes.iter().skip(1).find(|size| **size >= requested)
        });
        let usable = class.copied().unwrap_or(span.range.len()).min(span.range.len());
        Block { usable, requested, ..whole(span, BlockState::Used, None) }
    }
}

fn whole(span: &Span, state: BlockState, list: Option<ListId>) -> Block {
    Block {
        at: span.range.start,
        usable: span.range.len(),
        whole: span.range,
        requested: None,
        state,
        arena: Some(0),
        list,
    }
}

impl NativeHeap for Tcmalloc {
    fn identity(&self) -> &HeapIdentity {
        &self.identity
    }

    fn ranges(&self, host: &dyn HeapHost) -> Vec<AddrRange> {
        let mut ranges: Vec<AddrRange> = Vec::new();
        let everywhere = AddrRange::new(Addr::new(0), Addr::new(u64::MAX));
        let _ = self.map.each_span(host.space(), everywhere, &mut |span| {
            match ranges.last_mut() {
                Some(last) if last.end >= span.range.start => {
                    last.end = last.end.max(span.range.end)
                }
                _ => ranges.push(span.range),
            }
            ControlFlow::Continue(())
        });
        ranges
    }

    fn usage(&self, host: &dyn HeapHost, _depth: Depth, watch: Watch<'_>) -> Option<Usage> {
        usage::usage(self, host, watch)
    }

    fn walk(&self, host: &dyn HeapHost, sink: &mut BlockSink<'_>) -> ControlFlow<()> {
        let within = sink.filter().within;
        let everywhere = AddrRange::new(Addr::new(0), Addr::new(u64::MAX));
        self.map.each_span(host.space(), within, &mut |span| {
            self.blocks_of(host, &span, everywhere, &mut |block| sink.push(block))
        })
    }

    fn block_at(&self, host: &dyn HeapHost, at: Addr) -> Option<Block> {
        let span = self.map.span_at(host.space(), at)?;
        let mut found = None;
        let _ = self.blocks_of(host, &span, AddrRange::with_len(at, 1), &mut |block| {
            found = Some(*block).filter(|block| block.whole.contains(at));
            ControlFlow::Break(())
        });
        found
    }

    fn list(&self, list: ListId) -> BlockList {
        let (cache, class) = (list.0 >> 8, list.0 & 0xff);
        let size = self.caches.sizes.get(class as usize).copied().unwrap_or(0);
        let thread = self.caches.caches.get(cache as usize).and_then(|cache| cache.thread);
        let name = match list {
            IN_SPAN => "free list of its span".into(),
            NORMAL => "free spans".into(),
            RETURNED => "free spans whose memory the system has back".into(),
            _ if cache == TRANSFER => format!("transfer cache of {size} bytes").into(),
            _ => format!("thread cache of {size} bytes").into(),
        };
        BlockList { name, thread: thread.filter(|_| cache != TRANSFER) }
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
