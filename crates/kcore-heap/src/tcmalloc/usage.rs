//! Totals, from the counters and lists of all spans and the caches.

use std::ops::ControlFlow;
use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};

use super::cache::{Cached, TRANSFER};
use super::heap::Tcmalloc;
use super::span::{Location, Objects, Span, index_of};
use crate::{Amount, ArenaUsage, CacheUsage, Equality, HeapHost, OwnFigure, Usage, Watch};

/// Spans between two looks at whoever watches.
const STEP: u64 = 1024;

/// What spans come to.
#[derive(Default)]
struct Sums {
    spans: u64,
    /// Blocks that the program and caches have, and their bytes.
    out: (u64, u64),
    /// What was handed out in words of tcmalloc.
    allocated: u64,
    free: (u64, u64),
    /// Bytes of spans of small blocks that are in no block.
    rest: u64,
    listed_bytes: u64,
    normal: u64,
    returned: u64,
    mapped: u64,
    /// Of small spans: blocks handed out and in lists, and all blocks.
    counted: u64,
    blocks: u64,
    cached: u64,
    wrong: Option<Addr>,
}

/// The totals; `None` when whoever watches stopped it.
pub(super) fn usage(heap: &Tcmalloc, host: &dyn HeapHost, watch: Watch<'_>) -> Option<Usage> {
    let mut sums = Sums::default();
    let everywhere = AddrRange::new(Addr::new(0), Addr::new(u64::MAX));
    let walked = heap.map.each_span(host.space(), everywhere, &mut |span| {
        sums.add(heap, host, &span);
        if sums.spans.is_multiple_of(STEP) {
            watch(sums.mapped, 0)
        } else {
            ControlFlow::Continue(())
        }
    });
    walked.is_continue().then(|| totals(heap, &sums))
}

impl Sums {
    fn add(&mut self, heap: &Tcmalloc, host: &dyn HeapHost, span: &Span) {
        let bytes = span.range.len();
        self.spans = self.spans.saturating_add(1);
        self.mapped = self.mapped.saturating_add(bytes);
        match (span.location, heap.block_size(span)) {
            (Location::InUse, Some(size)) => self.add_small(heap, host, span, size),
            (Location::InUse, None) => {
                add_to(&mut self.out, 1, bytes);
                self.allocated = self.allocated.saturating_add(bytes);
            }
            (Location::Normal, _) => {
                self.normal = self.normal.saturating_add(bytes);
                add_to(&mut self.free, 1, bytes);
            }
            (Location::Returned, _) => {
                self.returned = self.returned.saturating_add(bytes);
                add_to(&mut self.free, 1, bytes);
            }
        }
    }

    fn add_small(&mut self, heap: &Tcmalloc, host: &dyn HeapHost, span: &Span, size: u64) {
        let objects = Objects::of(host.space(), span, size);
        let blocks = span.blocks(size);
        self.counted = self.counted.saturating_add(span.handed_out).saturating_add(objects.count);
        self.blocks = self.blocks.saturating_add(blocks);
        if span.handed_out.saturating_add(objects.count) != blocks {
            self.wrong.get_or_insert(span.at);
        }
        let is_right = |block: &&Cached| {
            block.class == span.class
                && index_of(span, size, block.at).is_some_and(|index| !objects.is_free(index))
        };
        self.cached = self
            .cached
            .saturating_add(heap.cached_in(span.range).iter().filter(is_right).count() as u64);
        let out = blocks.saturating_sub(objects.count);
        add_to(&mut self.out, out, out.saturating_mul(size));
        self.allocated = self.allocated.saturating_add(out.saturating_mul(size));
        add_to(&mut self.free, objects.count, objects.count.saturating_mul(size));
        self.listed_bytes = self.listed_bytes.saturating_add(objects.count.saturating_mul(size));
        self.rest =
            self.rest.saturating_add(span.range.len().saturating_sub(blocks.saturating_mul(size)));
    }
}

fn add_to(to: &mut (u64, u64), blocks: u64, bytes: u64) {
    *to = (to.0.saturating_add(blocks), to.1.saturating_add(bytes));
}

fn totals(heap: &Tcmalloc, sums: &Sums) -> Usage {
    let size =
        |block: &Cached| heap.caches.sizes.get(usize::from(block.class)).copied().unwrap_or(0);
    let amount = |of: &dyn Fn(&Cached) -> bool| {
        let blocks = heap.caches.blocks.iter().filter(|block| of(block));
        blocks.fold(Amount::new(0, 0), |sum, block| sum.plus(Amount::new(1, size(block))))
    };
    let cached = amount(&|_| true);
    let transfer = amount(&|block| block.cache == TRANSFER);
    let cached_blocks = cached.blocks.unwrap_or(0);
    let used = Amount::new(
        sums.out.0.saturating_sub(cached_blocks),
        sums.out.1.saturating_sub(cached.bytes),
    );
    let free = Amount::new(sums.free.0, sums.free.1);
    let arena = ArenaUsage {
        at: Some(heap.map.root),
        name: "page heap".into(),
        threads: Vec::new(),
        mapped: sums.mapped,
        used,
        cached,
        free,
        internal: Amount::new(0, 0),
        locked: None,
    };
    Usage {
        arenas: vec![arena],
        caches: caches(heap),
        used,
        cached,
        free,
        internal: Amount::new(0, 0),
        apart: Amount::new(0, 0),
        mapped: sums.mapped,
        metadata: heap.map.leaf_bytes().saturating_add(sums.spans.saturating_mul(48)),
        equalities: equalities(heap, sums),
        own: own(sums, cached, transfer),
        notes: Vec::new(),
    }
}

fn caches(heap: &Tcmalloc) -> Vec<CacheUsage> {
    let mut amounts = vec![Amount::new(0, 0); heap.caches.caches.len()];
    for block in heap.caches.blocks.iter().filter(|block| block.cache != TRANSFER) {
        let size = heap.caches.sizes.get(usize::from(block.class)).copied().unwrap_or(0);
        if let Some(amount) = amounts.get_mut(block.cache as usize) {
            *amount = amount.plus(Amount::new(1, size));
        }
    }
    let with = heap.caches.caches.iter().zip(amounts);
    with.map(|(cache, cached)| CacheUsage { at: cache.at, thread: cache.thread, cached }).collect()
}

fn equalities(heap: &Tcmalloc, sums: &Sums) -> Vec<Equality> {
    let mut spans = Equality::new(
        "blocks that spans handed out and that are in their lists",
        sums.counted,
        "blocks that fit into the spans",
        sums.blocks,
    );
    spans.at = sums.wrong;
    let caches = &heap.caches;
    let in_threads = caches.blocks.iter().filter(|block| block.cache != TRANSFER).count() as u64;
    let counted = caches.caches.iter().map(|cache| cache.counted).fold(0, u64::saturating_add);
    let said = caches.caches.iter().map(|cache| cache.size).fold(0, u64::saturating_add);
    let size = |block: &Cached| caches.sizes.get(usize::from(block.class)).copied().unwrap_or(0);
    let threads = caches.blocks.iter().filter(|block| block.cache != TRANSFER);
    let bytes = threads.map(size).fold(0, u64::saturating_add);
    vec![
        spans,
        Equality::new("blocks in lists of thread caches", in_threads, "by their counters", counted),
        Equality::new("bytes in lists of thread caches", bytes, "as they say themselves", said),
        Equality::new(
            "blocks in all caches",
            caches.blocks.len() as u64,
            "of these, blocks that were handed out, of the same class",
            sums.cached,
        ),
    ]
}

/// The figures as `MallocExtension` names them.
fn own(sums: &Sums, cached: Amount, transfer: Amount) -> Vec<OwnFigure> {
    let figures = [
        ("generic.current_allocated_bytes", sums.allocated.saturating_sub(cached.bytes)),
        ("generic.heap_size", sums.mapped.saturating_sub(sums.returned)),
        ("tcmalloc.pageheap_free_bytes", sums.normal),
        ("tcmalloc.pageheap_unmapped_bytes", sums.returned),
        ("tcmalloc.central_cache_free_bytes", sums.listed_bytes.saturating_add(sums.rest)),
        ("tcmalloc.transfer_cache_free_bytes", transfer.bytes),
        ("tcmalloc.thread_cache_free_bytes", cached.bytes.saturating_sub(transfer.bytes)),
    ];
    figures.into_iter().map(|(name, value)| OwnFigure { name: Arc::from(name), value }).collect()
}
