//! The regions of arenas: what they had from the system.

use kcore_mem::{Addr, AddrRange};

use super::{
    Glibc,
    chunk::{Chain, ChainEnd, FENCE, FLAGS, HEADER, MIN_SIZE, PREV_IN_USE, Region},
    layout::NONCONTIGUOUS,
};
use crate::{
    HeapHost,
    words::{Words, held_parts},
};

/// Heaps of one arena that are followed, at most.
const MAX_HEAPS: usize = 1 << 16;
/// Regions of the main arena, at most.
const MAX_REGIONS: usize = 1 << 16;
/// Regions of all arenas, at most.
const MAX_ALL: usize = 1 << 17;
/// Chunks that searches for regions pass in vain, at most.
const MAX_STEPS: u64 = 1 << 26;
/// Bytes behind a fence in which the next region is looked for.
const MAX_FOREIGN: u64 = 1 << 30;
/// Chunks that a chain must have, or reach an end before, so that it is one.
const SURE: usize = 64;
const PAGE: u64 = 4096;
/// `sizeof (heap_info)` for an arena that begins at this offset of its first heap.
const ALIGNMENT: u64 = 16;

/// All regions of a heap, lowest first, and what could not be found of them.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// The regions.
    pub all: Vec<Region>,
    /// What is missing.
    pub notes: Vec<String>,
    /// The memory of each, with what is behind its last chunk.
    taken: Vec<AddrRange>,
    /// By arena, bytes of its regions outside of chunks.
    overhead: Vec<u64>,
    /// By arena, bytes of its top.
    tops: Vec<u64>,
}

/// Finds the regions of all arenas.
pub fn find(heap: &Glibc, host: &dyn HeapHost) -> Regions {
    let mut found = Regions::default();
    // Those of the main arena may lie between the heaps of others, and are told from them.
    for (number, _) in (0_u32..).zip(&heap.ring.arenas).skip(1) {
        heaps_of(heap, host, number, &mut found);
    }
    main_regions(heap, host, &mut found);
    found.all.sort_unstable_by_key(|region| region.start);
    found.all.dedup_by(|next, last| next.start < last.end);
    found.taken = taken(host, &found.all);
    measure(heap, host, &mut found);
    found
}

/// The regions of the heaps of an arena, from the last one, which has `top`, to the first.
fn heaps_of(heap: &Glibc, host: &dyn HeapHost, number: u32, found: &mut Regions) {
    let mut words = Words::new(host.space());
    let Some(arena) = heap.ring.arenas.get(number as usize) else { return };
    let (Some((alignment, first)), Some(top)) =
        (arena.heap, arena.top(&mut words, heap.ring.layout))
    else {
        found.notes.push(format!("arena {number}: its top cannot be read"));
        return;
    };
    let mut at = top & !alignment.wrapping_sub(1);
    let info = arena.at.get().wrapping_sub(first.get()).next_multiple_of(ALIGNMENT);
    for _ in 0..MAX_HEAPS.min(MAX_ALL.saturating_sub(found.all.len())) {
        let is_first = at == first.get();
        let start = match is_first {
            true => arena.at.get().wrapping_add(heap.ring.layout.size).next_multiple_of(ALIGNMENT),
            false => at.wrapping_add(info),
        };
        let (owner, prev, size) =
            (words.word(at), words.word(at.wrapping_add(8)), words.word(at.wrapping_add(16)));
        let (Some(owner), Some(prev), Some(size)) = (owner, prev, size) else {
            found.notes.push(format!("arena {number}: its heap at {at:#x} was not dumped"));
            return;
        };
        if owner != arena.at.get() || size > alignment || size < info {
            found.notes.push(format!("arena {number}: what should be its heap at {at:#x} is none"));
            return;
        }
        let has_top = top & !alignment.wrapping_sub(1) == at;
        let end = if has_top { top } else { at.wrapping_add(size) };
        if start <= end {
            found.all.push(Region { start, end, has_top, arena: number });
        }
        if is_first {
            return;
        }
        at = prev;
    }
}

/// The regions of the main arena: one by `brk`, further ones behind what others took by `brk`, and mapped ones where
/// `brk` had no more room.
fn main_regions(heap: &Glibc, host: &dyn HeapHost, found: &mut Regions) {
    let mut words = Words::new(host.space());
    let Some(arena) = heap.ring.arenas.first() else { return };
    let top = arena.top(&mut words, heap.ring.layout).unwrap_or(0);
    let system = arena.word(&mut words, heap.ring.layout.system_mem).unwrap_or(0);
    let top_size = words.word(top.wrapping_add(8)).map_or(0, |word| word & !FLAGS);
    let base = heap.par.map_or(0, |par| par.sbrk_base).next_multiple_of(16);
    if system == 0 {
        return;
    }
    if base != 0 && base <= top && is_one(host, base, top, top_size, system) {
        found.all.push(Region { start: base, end: top, has_top: true, arena: 0 });
        return;
    }
    let before = found.all.len();
    if base != 0 {
        from_break(host, base, top, found);
    }
    let is_contiguous = arena.flags(&mut words) & NONCONTIGUOUS == 0;
    let explained = explained(found.all.get(before..).unwrap_or_default(), top_size);
    if !is_contiguous || explained.saturating_add(PAGE) < system {
        mapped_regions(host, top, found);
    }
}

/// Whether one region from `base` to the end of `top` is all that the arena had from the system.
fn is_one(host: &dyn HeapHost, base: u64, top: u64, top_size: u64, system: u64) -> bool {
    let end = top.wrapping_add(top_size);
    let taken = end.wrapping_sub(base);
    let same = host
        .mapping_at(Addr::new(base))
        .is_some_and(|mapping| mapping.range.contains(Addr::new(top)));
    // What aligned the first chunk is counted as well.
    same && (taken == system || taken.abs_diff(system) < 32)
}

fn explained(regions: &[Region], top_size: u64) -> u64 {
    let bytes = |region: &Region| {
        region.end.wrapping_sub(region.start).saturating_add(if region.has_top {
            top_size
        } else {
            0
        })
    };
    regions.iter().map(bytes).fold(0, u64::saturating_add)
}

/// The regions of the mapping that `brk` grows. Behind a fence lies what somebody else took.
fn from_break(host: &dyn HeapHost, base: u64, top: u64, found: &mut Regions) {
    let Some(mapping) = host.mapping_at(Addr::new(base)) else {
        found.notes.push(format!("arena main: its memory at {base:#x} was not dumped"));
        return;
    };
    let limit = mapping.range.end.get();
    let (mut at, mut count, mut steps) = (base, 0_usize, u64::MAX);
    while at < limit && count < MAX_REGIONS {
        let Some((region, behind)) = region_at(host, &mut steps, at, top, limit) else {
            // Memory in which nothing chains is damaged, and is told of by the walk.
            let end = if (at..limit).contains(&top) { top } else { limit };
            if count == 0 {
                found.all.push(Region { start: at, end, has_top: end == top, arena: 0 });
            }
            return;
        };
        found.all.push(region);
        (count, steps) = (count.saturating_add(1), MAX_STEPS);
        if region.has_top {
            return;
        }
        let Some(next) = next_region(host, &mut steps, behind, top, limit) else { return };
        at = next;
    }
}

/// The region whose first chunk lies at `at`, and what lies behind it; `None` if its chain ends otherwise than with
/// `top` or a fence.
fn region_at(
    host: &dyn HeapHost,
    steps: &mut u64,
    at: u64,
    top: u64,
    limit: u64,
) -> Option<(Region, u64)> {
    let end = if top >= at && top < limit { top } else { limit };
    let has_top = end == top;
    let region = Region { start: at, end, has_top, arena: 0 };
    let mut chain = Chain::new(Words::new(host.space()), at, &region);
    let passed = chain.by_ref().zip(0..*steps).count() as u64;
    let top = Words::new(host.space()).word(end.wrapping_add(8)).map_or(0, |word| word & !FLAGS);
    let found = region_of(chain.ended()?, region, end.saturating_add(top).min(limit));
    // Only what was passed in vain counts.
    *steps = steps.saturating_sub(if found.is_some() { 0 } else { passed });
    found
}

fn region_of(ended: ChainEnd, region: Region, top_end: u64) -> Option<(Region, u64)> {
    let Region { start: at, has_top, .. } = region;
    match ended {
        ChainEnd::Done => has_top.then_some((region, top_end)),
        ChainEnd::Fence(fence) => {
            let region = Region { start: at, end: fence, has_top: false, arena: 0 };
            (fence > at).then_some((region, fence))
        }
        ChainEnd::Torn(..) | ChainEnd::Missing(_) => None,
    }
}

/// The first address behind a fence from which chunks lead to `top` or to another fence.
fn next_region(
    host: &dyn HeapHost,
    steps: &mut u64,
    fence: u64,
    top: u64,
    limit: u64,
) -> Option<u64> {
    let mut words = Words::new(host.space());
    let end = limit.min(fence.saturating_add(MAX_FOREIGN));
    let mut at = fence.saturating_add(FENCE.wrapping_mul(2));
    while at < end {
        let size = words.word(at.wrapping_add(8))?;
        if is_first(size)
            && limit.wrapping_sub(at) >= (size & !FLAGS)
            && region_at(host, steps, at, top, limit).is_some()
        {
            return Some(at);
        }
        at = at.saturating_add(16);
    }
    None
}

/// Whether a size may be that of the first chunk of a region of the main arena.
const fn is_first(word: u64) -> bool {
    word & FLAGS == PREV_IN_USE && word & !FLAGS >= MIN_SIZE && word & 8 == 0
}

/// The regions of the main arena that were mapped: they begin on a page. Neighbours share a mapping.
fn mapped_regions(host: &dyn HeapHost, top: u64, found: &mut Regions) {
    let mut taken = found.all.clone();
    taken.sort_unstable_by_key(|region| region.start);
    let (mut words, mut steps) = (Words::new(host.space()), MAX_STEPS);
    let held = host.regions();
    for mapping in host.mappings().iter().filter(|it| it.writable && !it.is_file) {
        for part in held_parts(&held, mapping.range) {
            let limit = part.end.get();
            let mut at = part.start.get().next_multiple_of(PAGE);
            while at < limit && found.all.len() < MAX_ALL {
                let before = taken.partition_point(|region| region.start <= at).checked_sub(1);
                let before = before.and_then(|index| taken.get(index));
                if let Some(region) = before.filter(|region| at < region.end) {
                    at = region.end.next_multiple_of(PAGE).max(at.saturating_add(PAGE));
                    continue;
                }
                let first = (words.word(at), words.word(at.wrapping_add(8)));
                let may_be = matches!(first, (Some(0), Some(size)) if is_first(size));
                let region = may_be.then(|| region_at(host, &mut steps, at, top, limit)).flatten();
                at = match region.filter(|(region, _)| is_sure(host, region)) {
                    Some((region, behind)) => {
                        found.all.push(region);
                        behind
                            .saturating_add(if region.has_top { 0 } else { FENCE })
                            .next_multiple_of(PAGE)
                    }
                    None => at.saturating_add(PAGE),
                };
            }
        }
    }
}

/// Whether a mapped region ends where those of malloc do: at `top`, or with its fence at the end of a page. One that was just
/// mapped may be `top` alone.
fn is_sure(host: &dyn HeapHost, region: &Region) -> bool {
    if region.has_top && region.start == region.end {
        return true;
    }
    let chunks = Chain::new(Words::new(host.space()), region.start, region).take(SURE).count();
    chunks > 0
        && (region.has_top
            || region.end.saturating_add(HEADER.wrapping_mul(2)).is_multiple_of(PAGE))
}

impl Regions {
    /// The region whose chunks, or whose top, may lie at an address.
    pub fn at(&self, at: u64) -> Option<&Region> {
        let index = self.all.partition_point(|region| region.start <= at).checked_sub(1)?;
        let taken = self.taken.get(index)?;
        self.all.get(index).filter(|_| taken.contains(Addr::new(at)))
    }

    /// The memory of the regions, with `top` and with what is before the first chunk, lowest first.
    pub fn taken(&self) -> &[AddrRange] {
        &self.taken
    }
}

/// The memory of regions: with the rest that is `top`, and with the structures at the beginning of heaps.
fn taken(host: &dyn HeapHost, regions: &[Region]) -> Vec<AddrRange> {
    let mut words = Words::new(host.space());
    let of_region = |region: &Region| {
        let mapping =
            host.mapping_at(Addr::new(region.start)).map_or(region.end, |it| it.range.end.get());
        let top = words.word(region.end.wrapping_add(8)).map_or(0, |word| word & !FLAGS);
        let top_end = region.end.saturating_add(top).min(mapping.max(region.end));
        let end = if region.has_top { top_end } else { region.end };
        AddrRange::new(Addr::new(region.start), Addr::new(end))
    };
    let mut taken: Vec<AddrRange> = regions.iter().map(of_region).collect();
    // A torn top may claim what the next region has.
    let starts: Vec<Addr> = regions.iter().skip(1).map(|region| Addr::new(region.start)).collect();
    for (range, next) in taken.iter_mut().zip(starts) {
        range.end = range.end.min(next);
    }
    taken
}

/// Measures what the regions of each arena have outside of chunks, and its top.
fn measure(heap: &Glibc, host: &dyn HeapHost, found: &mut Regions) {
    let mut words = Words::new(host.space());
    let count = heap.ring.arenas.len();
    (found.overhead, found.tops) = (vec![0; count], vec![0; count]);
    for (region, taken) in found.all.iter().zip(&found.taken) {
        let index = region.arena as usize;
        let Some(arena) = heap.ring.arenas.get(index) else { continue };
        let heap_start = arena
            .heap
            .map_or(region.start, |(alignment, _)| region.start & !alignment.wrapping_sub(1));
        let before = region.start.saturating_sub(heap_start);
        if let Some(overhead) = found.overhead.get_mut(index) {
            *overhead = overhead.saturating_add(before);
        }
        let top = found.tops.get_mut(index).filter(|_| region.has_top);
        if let Some(top) = top {
            *top = taken.end.get().saturating_sub(region.end);
        }
    }
    for (index, arena) in heap.ring.arenas.iter().enumerate() {
        let system = arena.word(&mut words, heap.ring.layout.system_mem).unwrap_or(0);
        let top = found.tops.get_mut(index);
        if let Some(top) = top {
            *top = (*top).min(system);
        }
    }
}

impl Regions {
    /// Bytes that the regions of an arena have before their first chunks.
    pub fn overhead(&self, arena: usize) -> u64 {
        self.overhead.get(arena).copied().unwrap_or(0)
    }

    /// Bytes of the top of an arena, as far as memory allows them.
    pub fn top(&self, arena: usize) -> u64 {
        self.tops.get(arena).copied().unwrap_or(0)
    }
}
