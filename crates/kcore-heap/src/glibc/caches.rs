//! Chunks that are free and marked in use: those in thread caches and in fast bins.

use std::collections::BTreeMap;

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Tid;
use rustc_hash::FxHashSet;

use super::{
    Glibc,
    chunk::{FLAGS, HEADER, MIN_SIZE},
    layout::{FASTBINS, TCACHES, TcacheLayout},
    list_id,
    lists::{ListEnd, OneWay},
};
use crate::{HeapHost, ListId, words::Words};

/// Bytes before and behind the thread pointer in which the pointer to the thread's cache is looked for.
const REACH: u64 = 512;
/// Largest chunk of a fast bin: `mallopt` allows no more than 80 words of four bytes each, doubled for 64 bits.
const MAX_FAST: u64 = 0xb0;

/// A thread's cache.
#[derive(Clone, Debug)]
pub struct Cache {
    /// The chunk that holds its structure.
    pub chunk: u64,
    /// Its thread.
    pub thread: Option<Tid>,
    /// Its layout.
    pub layout: &'static TcacheLayout,
}

/// A list that ended otherwise than it should.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadList {
    /// The list.
    pub list: ListId,
    /// Its arena, of a fast bin.
    pub arena: Option<u32>,
    /// How it ended.
    pub end: ListEnd,
}

/// What is in thread caches and fast bins.
#[derive(Clone, Debug, Default)]
pub struct Caches {
    /// The caches.
    pub caches: Vec<Cache>,
    /// Chunks in lists, lowest first; one that is in two lists is there twice. The structures of caches are among them, as
    /// [`list_id::STRUCTURE`].
    pub chunks: Vec<(u64, ListId)>,
    /// Lists that are torn.
    pub bad: Vec<BadList>,
    /// Of thread caches: how many blocks the counters say there are, and how many were found.
    pub counts: (u64, u64),
    /// Whether the links of lists are protected; `None` where no list tells.
    pub protected: Option<bool>,
}

/// Finds them.
pub fn find(heap: &Glibc, host: &dyn HeapHost) -> Caches {
    let mut found = Caches { caches: caches_of(heap, host), ..Caches::default() };
    found.protected = protection(heap, host, &found.caches);
    read_caches(heap, host, &mut found);
    read_fastbins(heap, host, &mut found);
    found.chunks.extend(found.caches.iter().map(|cache| (cache.chunk, list_id::STRUCTURE)));
    found.chunks.sort_unstable();
    // A list that leads into itself was passed more than once.
    found.chunks.dedup();
    found
}

/// The structures of caches: the thread pointer leads to a variable that points to each, at the same distance for all
/// threads. The first chunk of an arena is often one, of a thread that may not be known.
fn caches_of(heap: &Glibc, host: &dyn HeapHost) -> Vec<Cache> {
    let layouts: Vec<&TcacheLayout> =
        TCACHES.iter().filter(|it| heap.may_be(it.first, it.last)).collect();
    let mut words = Words::new(host.space());
    let threads =
        host.threads().into_iter().filter_map(|tid| Some((tid, host.thread_pointer(tid)?)));
    let threads: Vec<(Tid, u64)> = threads.map(|(tid, at)| (tid, at.get())).collect();
    let mut by_offset: BTreeMap<i64, Vec<Cache>> = BTreeMap::new();
    for (tid, pointer) in &threads {
        for offset in offsets() {
            let value = words.word(pointer.wrapping_add_signed(offset));
            let cache = value.and_then(|value| cache_at(heap, host, &mut words, value, &layouts));
            if let Some((chunk, layout)) = cache {
                by_offset.entry(offset).or_default().push(Cache {
                    chunk,
                    thread: Some(*tid),
                    layout,
                });
            }
        }
    }
    let mut best = by_offset.into_values().max_by_key(Vec::len).unwrap_or_default();
    let mut known = FxHashSet::default();
    best.retain(|cache| known.insert(cache.chunk));
    with_first_chunks(heap, host, best, &layouts)
}

fn offsets() -> impl Iterator<Item = i64> {
    let reach = REACH.cast_signed();
    (reach.wrapping_neg()..reach).step_by(8)
}

/// The chunk of a thread's cache whose structure a pointer leads to.
fn cache_at(
    heap: &Glibc,
    host: &dyn HeapHost,
    words: &mut Words<'_>,
    pointer: u64,
    layouts: &[&'static TcacheLayout],
) -> Option<(u64, &'static TcacheLayout)> {
    let chunk = pointer.checked_sub(HEADER).filter(|chunk| chunk % 16 == 0 && *chunk != 0)?;
    let size = words.word(chunk.wrapping_add(8))? & !FLAGS;
    let layout = layouts.iter().find(|layout| layout.chunk == size)?;
    (heap.may_hold(host, chunk) && is_cache(heap, words, chunk, layout)).then_some((chunk, *layout))
}

/// Whether the words of a chunk may be a cache's: each list that has blocks begins with one of its size.
fn is_cache(heap: &Glibc, words: &mut Words<'_>, chunk: u64, layout: &TcacheLayout) -> bool {
    let cache = chunk.wrapping_add(HEADER);
    let most = heap.par.and_then(|par| par.tcache_count).unwrap_or(u64::from(u16::MAX));
    let fits = |bin: u64, words: &mut Words<'_>| {
        let head = head(words, cache, layout, bin)?;
        let count = count(words, cache, layout, bin, most)?;
        // A torn head must not hide the cache: that it may be one is enough.
        let is_empty = head == 0 && count == 0;
        let leads = head % 16 == 0 && head != 0 && count > 0 && count <= most.max(127);
        Some(is_empty || leads)
    };
    let good = (0..layout.bins).filter(|bin| fits(*bin, words) == Some(true)).count() as u64;
    good.saturating_add(2) >= layout.bins
}

fn head(words: &mut Words<'_>, cache: u64, layout: &TcacheLayout, bin: u64) -> Option<u64> {
    words.word(cache.wrapping_add(layout.entries).wrapping_add(bin.wrapping_mul(8)))
}

/// How many blocks a counter says that a list has.
fn count(
    words: &mut Words<'_>,
    cache: u64,
    layout: &TcacheLayout,
    bin: u64,
    most: u64,
) -> Option<u64> {
    let at = cache.wrapping_add(bin.wrapping_mul(layout.count_size));
    let size = usize::try_from(layout.count_size).ok()?;
    let value = words.space().read_uint(Addr::new(at), size).ok()?;
    Some(if layout.counts_down { most.saturating_sub(value) } else { value })
}

/// The caches, and those at the beginnings of arenas that no thread pointer led to.
fn with_first_chunks(
    heap: &Glibc,
    host: &dyn HeapHost,
    mut caches: Vec<Cache>,
    layouts: &[&'static TcacheLayout],
) -> Vec<Cache> {
    let mut words = Words::new(host.space());
    for region in &heap.regions(host).all {
        let known = caches.iter().any(|cache| cache.chunk == region.start);
        let user = region.start.wrapping_add(HEADER);
        // Words of zeros are a cache without blocks, or a block of the program's.
        let first = cache_at(heap, host, &mut words, user, layouts).filter(|_| !known);
        if let Some((chunk, layout)) =
            first.filter(|(chunk, layout)| has_blocks(&mut words, *chunk, layout))
        {
            caches.push(Cache { chunk, thread: None, layout });
        }
    }
    caches
}

fn has_blocks(words: &mut Words<'_>, chunk: u64, layout: &TcacheLayout) -> bool {
    (0..layout.bins).any(|bin| {
        head(words, chunk.wrapping_add(HEADER), layout, bin).is_some_and(|head| head != 0)
    })
}

/// Whether links are protected: by the version, or by what makes more lists as long as their counters say.
fn protection(heap: &Glibc, host: &dyn HeapHost, caches: &[Cache]) -> Option<bool> {
    if let Some(protected) = heap.is_protected() {
        return Some(protected);
    }
    let mut words = Words::new(host.space());
    let mut votes = [0_u64; 2];
    for (protected, votes) in [false, true].into_iter().zip(&mut votes) {
        for cache in caches {
            for (list, head_at, count) in lists(heap, &mut words, cache, protected) {
                let mut found = 0_u64;
                let end = list.each(&mut words, head_at, &mut |_| found = found.wrapping_add(1));
                *votes = votes.wrapping_add(u64::from(end == ListEnd::Whole && found == count));
            }
        }
        for (list, head_at, ..) in fastbins(heap, &mut words, protected) {
            let end = list.each(&mut words, head_at, &mut |_| {});
            *votes = votes.wrapping_add(u64::from(end == ListEnd::Whole));
        }
    }
    let [plain, protected] = votes;
    (plain != protected).then_some(protected > plain)
}

/// The lists of a cache that have blocks: each with where its head lies, and its counter.
fn lists(
    heap: &Glibc,
    words: &mut Words<'_>,
    cache: &Cache,
    protected: bool,
) -> Vec<(OneWay, u64, u64)> {
    let (layout, at) = (cache.layout, cache.chunk.wrapping_add(HEADER));
    let most = heap.par.and_then(|par| par.tcache_count).unwrap_or(u64::from(u16::MAX));
    let list = |bin: u64| {
        let head = head(words, at, layout, bin)?;
        let count = count(words, at, layout, bin, most)?;
        let size = MIN_SIZE.wrapping_add(bin.wrapping_mul(16));
        let sizes = if bin < layout.small_bins { size..=size } else { size..=u64::MAX };
        let (link, chunk, most) = (0, HEADER, u64::from(u16::MAX));
        let head_at = at.wrapping_add(layout.entries).wrapping_add(bin.wrapping_mul(8));
        let list = OneWay { head, link, chunk, protected, sizes, most };
        (head != 0 || count != 0).then_some((list, head_at, count))
    };
    (0..layout.bins).filter_map(list).collect()
}

fn read_caches(heap: &Glibc, host: &dyn HeapHost, found: &mut Caches) {
    let mut words = Words::new(host.space());
    let protected = found.protected.unwrap_or(true);
    let most = most_chunks(heap, host);
    for (index, cache) in found.caches.clone().iter().enumerate() {
        for (list, head_at, count) in lists(heap, &mut words, cache, protected) {
            let bin = head_at
                .wrapping_sub(cache.chunk.wrapping_add(HEADER).wrapping_add(cache.layout.entries))
                / 8;
            let id = list_id::tcache(index, bin);
            let before = found.chunks.len();
            if before as u64 > most {
                return;
            }
            let chunks = &mut found.chunks;
            let end = list.each(&mut words, head_at, &mut |chunk| chunks.push((chunk, id)));
            let seen = found.chunks.len().saturating_sub(before) as u64;
            found.counts.0 = found.counts.0.saturating_add(count);
            found.counts.1 = found.counts.1.saturating_add(seen);
            if end != ListEnd::Whole {
                found.bad.push(BadList { list: id, arena: None, end });
            }
        }
    }
}

/// The fast bins of all arenas that have chunks: each with where its head lies, its arena and its number.
fn fastbins(heap: &Glibc, words: &mut Words<'_>, protected: bool) -> Vec<(OneWay, u64, u32, u64)> {
    let mut lists = Vec::new();
    for (arena, number) in heap.ring.arenas.iter().zip(0_u32..) {
        let system = arena.word(words, heap.ring.layout.system_mem).unwrap_or(0);
        for index in 0..FASTBINS {
            let head_at = arena
                .at
                .get()
                .wrapping_add(heap.ring.layout.fastbins)
                .wrapping_add(index.wrapping_mul(8));
            let Some(head) = words.word(head_at).filter(|head| *head != 0) else { continue };
            let size = MIN_SIZE.wrapping_add(index.wrapping_mul(16));
            let sizes = size..=size.min(MAX_FAST);
            let list =
                OneWay { head, link: 16, chunk: 0, protected, sizes, most: system / MIN_SIZE };
            lists.push((list, head_at, number, index));
        }
    }
    lists
}

/// Chunks that the memory of all arenas has room for: a chunk is in one list.
fn most_chunks(heap: &Glibc, host: &dyn HeapHost) -> u64 {
    heap.regions(host).taken().iter().map(AddrRange::len).fold(0, u64::saturating_add) / MIN_SIZE
}

fn read_fastbins(heap: &Glibc, host: &dyn HeapHost, found: &mut Caches) {
    let mut words = Words::new(host.space());
    let most = most_chunks(heap, host);
    for (list, head_at, arena, index) in fastbins(heap, &mut words, found.protected.unwrap_or(true))
    {
        let id = list_id::fastbin(index);
        if found.chunks.len() as u64 > most {
            return;
        }
        let chunks = &mut found.chunks;
        let end = list.each(&mut words, head_at, &mut |chunk| chunks.push((chunk, id)));
        if end != ListEnd::Whole {
            found.bad.push(BadList { list: id, arena: Some(arena), end });
        }
    }
}
