//! Totals, from the counters and lists of all spans and the caches.

use std::ops::ControlFlow;
use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};

use super::cache::{CachedBlock, Holder};
use super::heap::Google;
use super::map::EVERYWHERE;
use super::span::{Content, DESCRIPTOR, Span};
use crate::{Amount, ArenaUsage, CacheUsage, Equality, HeapHost, OwnFigure, Usage, Watch};

/// Spans between two looks at whoever watches.
const STEP: u64 = 1024;
/// Memory comes from the system in runs that lie together in parts of this size (`kMinMmapAlloc`).
const PART_BITS: u32 = 30;

/// What spans come to.
#[derive(Default)]
struct Sums {
    spans: u64,
    /// Bytes of all spans.
    bytes: u64,
    /// Blocks that the program and caches have.
    out: Amount,
    /// Those that stand for sampled ones.
    proxies: Amount,
    free: Amount,
    /// Bytes of spans of small blocks that are in no block, and of spans of sampled ones.
    rest: u64,
    /// Of small spans: blocks handed out and free ones, and all blocks.
    counted: u64,
    blocks: u64,
    /// Blocks of caches that lie where blocks of their class are, and are not free.
    cached: u64,
    wrong: Option<Addr>,
    /// Parts of memory with spans.
    parts: Vec<u64>,
}

/// The totals; `None` when whoever watches stopped it.
pub(super) fn usage(heap: &Google, host: &dyn HeapHost, watch: Watch<'_>) -> Option<Usage> {
    let mut sums = Sums { out: ZERO, proxies: ZERO, free: ZERO, ..Sums::default() };
    let walked = heap.each_span(host.space(), EVERYWHERE, &mut |span| {
        sums.add(heap, host, &span);
        match sums.spans.is_multiple_of(STEP) {
            true => watch(sums.bytes, 0),
            false => ControlFlow::Continue(()),
        }
    });
    walked.is_continue().then(|| totals(heap, host, &sums))
}

const ZERO: Amount = Amount::new(0, 0);

impl Sums {
    fn add(&mut self, heap: &Google, host: &dyn HeapHost, span: &Span) {
        let bytes = span.range.len();
        self.spans = self.spans.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
        let part = span.range.start.get() >> PART_BITS;
        if self.parts.last() != Some(&part) {
            self.parts.push(part);
        }
        match span.content {
            Content::Large | Content::Sampled(_) => self.out = self.out.plus(Amount::new(1, bytes)),
            Content::Small(class) => match heap.size_of(class) {
                Some(size) => self.add_small(heap, host, span, size),
                None => self.wrong = self.wrong.or(Some(span.at)),
            },
        }
    }

    fn add_small(&mut self, heap: &Google, host: &dyn HeapHost, span: &Span, size: u64) {
        let objects = heap.objects(host.space(), span, size);
        let blocks = span.blocks(size);
        self.counted =
            self.counted.saturating_add(span.handed_out(size)).saturating_add(objects.count);
        self.blocks = self.blocks.saturating_add(blocks);
        if span.handed_out(size).saturating_add(objects.count) != blocks {
            self.wrong = self.wrong.or(Some(span.at));
        }
        let is_handed_out =
            |at: Addr| span.index_of(size, at).is_some_and(|index| !objects.is_free(index));
        let is_right = |block: &&CachedBlock| {
            span.content.class() == Some(block.class) && is_handed_out(block.at)
        };
        let cached = heap.cached_in(span.range).iter().filter(is_right).count();
        self.cached = self.cached.saturating_add(cached as u64);
        let proxies = heap.proxies_in(host.space(), span.range);
        let proxies = proxies.iter().filter(|at| is_handed_out(**at)).count() as u64;
        let amount = |count: u64| Amount::new(count, count.saturating_mul(size));
        self.proxies = self.proxies.plus(amount(proxies));
        self.out = self.out.plus(amount(blocks.saturating_sub(objects.count)));
        self.free = self.free.plus(amount(objects.count));
        let whole = blocks.saturating_mul(size);
        self.rest = self.rest.saturating_add(span.range.len().saturating_sub(whole));
    }
}

fn less(one: Amount, other: Amount) -> Amount {
    let blocks = one.blocks.zip(other.blocks).map(|(one, other)| one.saturating_sub(other));
    Amount { blocks, bytes: one.bytes.saturating_sub(other.bytes) }
}

fn totals(heap: &Google, host: &dyn HeapHost, sums: &Sums) -> Usage {
    let cached = cached(heap, &|_| true);
    let used = less(less(sums.out, cached), sums.proxies);
    let mapped = mapped(host, sums).max(sums.bytes);
    let arena = ArenaUsage {
        at: Some(heap.map.root),
        name: "page heap".into(),
        threads: Vec::new(),
        mapped,
        used,
        cached,
        free: sums.free,
        internal: sums.proxies,
        locked: None,
    };
    Usage {
        arenas: vec![arena],
        caches: caches(heap),
        used,
        cached,
        free: sums.free,
        internal: sums.proxies,
        apart: ZERO,
        mapped,
        metadata: metadata(heap, sums),
        equalities: equalities(heap, host, sums, cached),
        own: own(heap, sums, cached, mapped),
        notes: vec![
            "pages of no span, which the page heap has or gave back, are in no block".into(),
        ],
    }
}

fn metadata(heap: &Google, sums: &Sums) -> u64 {
    let descriptors = sums.spans.saturating_add(heap.descriptors.free_count());
    heap.map.leaf_bytes().saturating_add(descriptors.saturating_mul(DESCRIPTOR))
}

/// Bytes that can be written in the parts of memory with spans.
fn mapped(host: &dyn HeapHost, sums: &Sums) -> u64 {
    let part = |number: &u64| {
        let start = Addr::new(number.wrapping_shl(PART_BITS));
        AddrRange::with_len(start, 1 << PART_BITS)
    };
    let parts = AddrRange::merged(sums.parts.iter().map(part));
    let writable = host.mappings().iter().filter(|it| it.writable && !it.is_file);
    let shared = |range: AddrRange| {
        let overlaps = parts.iter().filter_map(move |part| part.intersection(&range));
        overlaps.map(|overlap| overlap.len()).fold(0, u64::saturating_add)
    };
    writable.map(|mapping| shared(mapping.range)).fold(0, u64::saturating_add)
}

/// What the caches of some holders have.
fn cached(heap: &Google, of: &dyn Fn(Holder) -> bool) -> Amount {
    let is_its = |block: &&CachedBlock| heap.caches.holder(block).is_some_and(of);
    let blocks = heap.caches.blocks.iter().filter(is_its);
    let size = |block: &CachedBlock| heap.size_of(block.class).unwrap_or(0);
    blocks.fold(ZERO, |sum, block| sum.plus(Amount::new(1, size(block))))
}

fn caches(heap: &Google) -> Vec<CacheUsage> {
    let mut amounts = vec![ZERO; heap.caches.caches.len()];
    for block in &heap.caches.blocks {
        if let Some(amount) = amounts.get_mut(block.cache as usize) {
            *amount = amount.plus(Amount::new(1, heap.size_of(block.class).unwrap_or(0)));
        }
    }
    let with = heap.caches.caches.iter().zip(amounts);
    let of_one = with.filter(|(cache, _)| cache.holder != Holder::Transfer);
    let thread = |holder: Holder| match holder {
        Holder::Thread(thread) => thread,
        Holder::Processor(_) | Holder::Transfer => None,
    };
    of_one
        .map(|(cache, cached)| CacheUsage { at: cache.at, thread: thread(cache.holder), cached })
        .collect()
}

fn equalities(heap: &Google, host: &dyn HeapHost, sums: &Sums, cached: Amount) -> Vec<Equality> {
    let mut spans = Equality::new(
        "blocks that spans handed out and that they have",
        sums.counted,
        "blocks that fit into the spans",
        sums.blocks,
    );
    spans.at = sums.wrong;
    let in_caches = Equality::new(
        "blocks in all caches",
        cached.blocks.unwrap_or(0),
        "of these, blocks that were handed out, of the same class",
        sums.cached,
    );
    let counted = |central: &super::transfer::Central| {
        let free = sums.free.blocks.unwrap_or(0);
        let counted = central.counted(host.space());
        Equality::new("blocks that spans have", free, "as central lists count them", counted)
    };
    let descriptors = |in_use: u64| {
        Equality::new("spans", sums.spans, "descriptors of spans that are in use", in_use)
    };
    let mut all = vec![spans, in_caches];
    all.extend(heap.central.as_ref().map(counted));
    all.extend(heap.descriptors.in_use.map(descriptors));
    all.extend(threads(heap));
    all
}

/// What the caches of threads have, against what they say.
fn threads(heap: &Google) -> Option<Equality> {
    let said = heap.caches.caches.iter().filter_map(|cache| cache.said);
    let said = said.reduce(u64::saturating_add)?;
    let bytes = cached(heap, &is_thread).bytes;
    Some(Equality::new("bytes in lists of thread caches", bytes, "as they say themselves", said))
}

const fn is_thread(holder: Holder) -> bool {
    matches!(holder, Holder::Thread(_))
}

/// The figures as `MallocExtension` names them.
fn own(heap: &Google, sums: &Sums, all: Amount, mapped: u64) -> Vec<OwnFigure> {
    let central = sums.free.bytes.saturating_add(sums.rest);
    let not_used = all.bytes.saturating_add(central);
    let of = |holder: &dyn Fn(Holder) -> bool| cached(heap, holder).bytes;
    let figures = [
        ("generic.current_allocated_bytes", sums.bytes.saturating_sub(not_used)),
        ("tcmalloc.central_cache_free", central),
        ("tcmalloc.cpu_free", of(&|holder| matches!(holder, Holder::Processor(_)))),
        ("tcmalloc.transfer_cache_free", of(&|holder| holder == Holder::Transfer)),
        ("tcmalloc.current_total_thread_cache_bytes", of(&is_thread)),
        ("tcmalloc.slack_bytes", mapped.saturating_sub(sums.bytes)),
    ];
    figures.into_iter().map(|(name, value)| OwnFigure { name: Arc::from(name), value }).collect()
}
