//! Caches of threads: stacks of free blocks, one for each size class.
//!
//! They lie in the thread-local variables of a thread (`tcache.h`, `cache_bin.h`), and the stacks of all bins are parts of
//! one block: each begins where the one before it ends. So they are found, and proven, without a symbol.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, AddressSpace};
use kcore_unwind::Tid;

use super::layout::CacheForm;
use crate::module_words::word;
use crate::{HeapHost, ListId};

/// Bytes of thread-local variables below the thread pointer that are looked at.
const STATIC_BYTES: u64 = 32 << 10;
/// Bytes that are looked at of the variables of a module that was loaded later.
const LATER_BYTES: u64 = 8 << 10;
/// Modules with thread-local variables, at most.
const MAX_MODULES: u64 = 256;
const BIN: u64 = 24;
/// Bins of a thread that show that they are bins.
const ENOUGH: usize = 24;
const MAX_BINS: usize = 96;
/// Blocks of a bin, at most: its ends are told by 16 bits.
const MAX_ITEMS: u64 = 1 << 13;

/// The cache of a thread.
#[derive(Clone, Debug)]
pub(super) struct ThreadCache {
    /// Where its first bin lies.
    pub(super) at: Addr,
    pub(super) thread: Tid,
    /// The memory of its stacks.
    pub(super) stacks: AddrRange,
}

/// A block in a cache.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Cached {
    pub(super) at: Addr,
    pub(super) list: CacheBin,
}

/// A bin of a cache.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct CacheBin {
    /// The number of the cache.
    pub(super) cache: u32,
    /// The size class.
    pub(super) class: u8,
}

impl CacheBin {
    pub(super) const fn id(self) -> ListId {
        ListId(self.cache << 8 | self.class as u32)
    }

    pub(super) const fn from_id(id: ListId) -> Self {
        Self { cache: id.0 >> 8, class: id.0 as u8 }
    }
}

/// The caches of all threads.
#[derive(Debug, Default)]
pub(super) struct Caches {
    pub(super) caches: Vec<ThreadCache>,
    /// All blocks in them, lowest first.
    pub(super) blocks: Vec<Cached>,
    /// Threads without one.
    pub(super) without: usize,
}

impl Caches {
    pub(super) fn load(host: &dyn HeapHost, form: CacheForm, small: usize) -> Self {
        let mut found = Self::default();
        for thread in host.threads() {
            let bins =
                host.thread_pointer(thread).and_then(|pointer| bins_of(host, form, small, pointer));
            match bins {
                Some(bins) => found.add(host.space(), thread, &bins),
                None => found.without = found.without.saturating_add(1),
            }
        }
        found.blocks.sort_unstable();
        found
    }

    fn add(&mut self, space: &dyn AddressSpace, thread: Tid, bins: &[Bin]) {
        let cache = u32::try_from(self.caches.len()).unwrap_or(u32::MAX) & 0x003f_ffff;
        let Some((first, last)) = bins.first().zip(bins.last()) else { return };
        let stacks = AddrRange::new(first.stack.start, last.stack.end);
        self.caches.push(ThreadCache { at: first.at, thread, stacks });
        for (class, bin) in bins.iter().enumerate() {
            let list = CacheBin { cache, class: u8::try_from(class).unwrap_or(u8::MAX) };
            let slots = (0..bin.count).map(|index| bin.oldest.saturating_add(index << 3));
            let blocks = slots.filter_map(|slot| space.read_addr(slot).ok());
            self.blocks.extend(blocks.map(|at| Cached { at, list }));
        }
    }

    /// The blocks of caches whose addresses lie in a range.
    pub(super) fn within(&self, range: AddrRange) -> &[Cached] {
        let from = self.blocks.partition_point(|block| block.at < range.start);
        let to = self.blocks.partition_point(|block| block.at < range.end);
        self.blocks.get(from..to).unwrap_or_default()
    }

    /// Whether a range holds the stacks of a cache: the allocator's own block.
    pub(super) fn holds_stacks(&self, range: AddrRange) -> bool {
        self.caches.iter().any(|cache| range.contains(cache.stacks.start))
    }
}

/// A bin as it lies in a cache.
#[derive(Clone, Copy, Debug)]
struct Bin {
    at: Addr,
    /// Where its blocks are kept. Of the first bin of the older form, the start is not known.
    stack: AddrRange,
    /// The lowest slot that holds a block, and how many do.
    oldest: Addr,
    count: u64,
}

/// The bins of the thread with a thread pointer.
fn bins_of(host: &dyn HeapHost, form: CacheForm, small: usize, pointer: Addr) -> Option<Vec<Bin>> {
    windows(host.space(), pointer)
        .into_iter()
        .find_map(|window| bins_in(host.space(), form, small, window))
}

/// Where thread-local variables lie: below the thread pointer, and where the vector of later modules leads
/// (`dtv_t` of glibc's `dl-tls.h`).
fn windows(space: &dyn AddressSpace, pointer: Addr) -> Vec<AddrRange> {
    let below = Addr::new(pointer.get().saturating_sub(STATIC_BYTES));
    let mut windows = vec![AddrRange::new(below, pointer)];
    let vector = word(space, pointer.saturating_add(8));
    for module in 1..=MAX_MODULES {
        let slot = Addr::new(vector).saturating_add(module.wrapping_mul(16));
        let Ok(block) = space.read_addr(slot) else { break };
        let is_later = !AddrRange::new(below, pointer).contains(block);
        if is_later && block.get().is_multiple_of(8) && space.slice(block).is_ok() {
            windows.push(AddrRange::with_len(block, LATER_BYTES));
        }
    }
    windows
}

/// The first bins of a window.
fn bins_in(
    space: &dyn AddressSpace,
    form: CacheForm,
    small: usize,
    window: AddrRange,
) -> Option<Vec<Bin>> {
    let slots =
        (window.start.get().next_multiple_of(8)..window.end.get()).step_by(8).map(Addr::new);
    slots.filter(|at| is_first(space, form, *at)).find_map(|first| {
        let large = match form {
            CacheForm::Ends => first,
            CacheForm::Count => large_bins(space, window, first, small),
        };
        chain(space, form, small, first, large)
    })
}

/// Whether a bin lies here that another one follows, and none comes before.
fn is_first(space: &dyn AddressSpace, form: CacheForm, at: Addr) -> bool {
    let Some(bin) = bin_at(space, form, at, None) else { return false };
    let before = bin_at(space, form, Addr::new(at.get().wrapping_sub(BIN)), None);
    let follows = before.is_some_and(|before| bin_at(space, form, at, Some(&before)).is_some());
    !follows && bin_at(space, form, at.saturating_add(BIN), Some(&bin)).is_some()
}

/// Where the bins of large classes begin in the older form: the descriptor says so, behind a pointer to the first bin of
/// small ones. Builds without statistics leave it out; then by `tcache_s` of 5.2.
fn large_bins(space: &dyn AddressSpace, window: AddrRange, first: Addr, small: usize) -> Addr {
    let mut said = None;
    let _ = crate::module_words::each_word(space, window, &mut |at, value| {
        if value == first.get() {
            said = Some(Addr::new(word(space, at.saturating_add(8))))
                .filter(|large| window.contains(*large));
        }
        if said.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let small = small as u64;
    let between = small.saturating_add(4).next_multiple_of(8).saturating_add(80);
    said.unwrap_or(first.saturating_add(small.wrapping_mul(BIN)).saturating_add(between))
}

/// The bins from `first` on; in the older form those of large classes begin elsewhere.
fn chain(
    space: &dyn AddressSpace,
    form: CacheForm,
    small: usize,
    first: Addr,
    large: Addr,
) -> Option<Vec<Bin>> {
    let mut bins: Vec<Bin> = Vec::new();
    while bins.len() < MAX_BINS {
        let index = bins.len();
        let at = match form {
            CacheForm::Count if index >= small => {
                large.saturating_add((index.saturating_sub(small) as u64).wrapping_mul(BIN))
            }
            _ => first.saturating_add((index as u64).wrapping_mul(BIN)),
        };
        let Some(bin) = bin_at(space, form, at, bins.last()) else { break };
        bins.push(bin);
    }
    (bins.len() >= ENOUGH).then_some(bins)
}

fn bin_at(
    space: &dyn AddressSpace,
    form: CacheForm,
    at: Addr,
    before: Option<&Bin>,
) -> Option<Bin> {
    match form {
        CacheForm::Ends => with_ends(space, at, before),
        CacheForm::Count => with_count(space, at, before),
    }
}

/// The low 16 bits of the ends give the ends, since the next block lies between them.
fn with_ends(space: &dyn AddressSpace, at: Addr, before: Option<&Bin>) -> Option<Bin> {
    let next = space.read_word(at).ok()?;
    let ends = space.read_word(at.checked_add(16)?).ok()?;
    let (full, empty) = ((ends >> 16) & 0xffff, (ends >> 32) & 0xffff);
    let from_end = |low: u64| empty.wrapping_sub(low) & 0xffff;
    let (capacity, held) = (from_end(full), from_end(next & 0xffff));
    let end = Addr::new(next).checked_add(held)?;
    let start = Addr::new(end.get().checked_sub(capacity)?);
    let is_bin = capacity > 0
        && capacity.is_multiple_of(8)
        && held.is_multiple_of(8)
        && held <= capacity
        && next.is_multiple_of(8);
    let follows = before.is_none_or(|before| before.stack.end == start);
    (is_bin && follows && space.slice(start).is_ok()).then_some(Bin {
        at,
        stack: AddrRange::new(start, end),
        oldest: Addr::new(next),
        count: held >> 3,
    })
}

/// The pointer is behind the newest block, and the stack before it ends where this one begins.
fn with_count(space: &dyn AddressSpace, at: Addr, before: Option<&Bin>) -> Option<Bin> {
    let counts = space.read_word(at).ok()?;
    let end = space.read_addr(at.checked_add(16)?).ok()?;
    let (low, count) = (counts as u32 as i32, counts >> 32);
    let oldest = Addr::new(end.get().checked_sub(count.checked_mul(8)?)?);
    let start = before.map_or(oldest, |before| before.stack.end);
    let stack = AddrRange::new(start, end);
    let is_bin = count <= MAX_ITEMS
        && i64::from(low) <= count as i64
        && low >= -1
        && end.get().is_multiple_of(8);
    let follows =
        oldest >= start && (before.is_none() || !stack.is_empty()) && stack.len() <= MAX_ITEMS << 3;
    let is_there =
        end.get() > 0x1_0000 && space.slice(Addr::new(end.get().wrapping_sub(8))).is_ok();
    (is_bin && follows && is_there).then_some(Bin { at, stack, oldest, count })
}
