//! Arenas: where they are, and what their words are.

use kcore_mem::{Addr, AddrRange};
use memchr::memmem;
use rustc_hash::FxHashSet;

use super::layout::{ARENAS, ArenaLayout, BINS, HEAP_SIZES, NEXT, TOP_BEFORE_BINS};
use crate::{
    HeapHost, HeapModule,
    words::{Words, held_parts},
};

/// Arenas of one process that are looked at, at most: glibc makes eight for each processor.
const MAX_ARENAS: usize = 1 << 16;
/// Candidates in one segment that are looked at, at most.
const MAX_CANDIDATES: usize = 1 << 12;
/// Empty bins next to each other that make a candidate.
const MIN_EMPTY: usize = 3;
/// Bins that must be whole: a torn one must not hide the heap in which it is torn.
const MIN_WHOLE: u64 = 96;
/// `attached_threads` is less than this, and `system_mem` is not: the least that is taken from the system is 132 KiB.
const MANY_THREADS: u64 = 1 << 16;
/// Bytes of constants that are searched for the version.
const MAX_CONSTANTS: u64 = 256 << 20;

/// An arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arena {
    /// Where its `malloc_state` lies.
    pub at: Addr,
    /// Of an arena that is not the main one, the bytes to which its heaps are aligned, and their first heap.
    pub heap: Option<(u64, Addr)>,
}

/// The arenas of one malloc: a process with two copies of glibc has two.
#[derive(Clone, Debug)]
pub struct ArenaRing {
    /// The main one first.
    pub arenas: Vec<Arena>,
    /// Their layout.
    pub layout: &'static ArenaLayout,
    /// Where `next` led in the end.
    pub end: RingEnd,
}

/// How the list of arenas ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RingEnd {
    /// Where it began.
    Closed,
    /// To what is no arena.
    Torn,
    /// To memory that is not there.
    Missing,
}

/// Looks in the writable segments of modules for main arenas. Each has a ring of its own.
pub fn find(host: &dyn HeapHost, held: &[AddrRange], module: &dyn HeapModule) -> Vec<ArenaRing> {
    let mut words = Words::new(host.space());
    let mut rings: Vec<ArenaRing> = Vec::new();
    for range in module.data().into_iter().flat_map(|range| held_parts(held, range)) {
        let mut behind = 0;
        for group in groups(&mut words, range) {
            if group < behind {
                continue;
            }
            let ring = candidates(&mut words, group)
                .into_iter()
                .find_map(|bins| ring_of(&mut words, bins));
            if let Some(ring) = ring {
                let main = ring.arenas.first().map_or(0, |main| main.at.get());
                behind = main.saturating_add(ring.layout.size);
                rings.push(ring);
            }
        }
    }
    rings
}

/// The addresses at which the bins of an arena may lie that has an empty bin at an address, the likeliest first. Where a
/// bin is torn, as many bins of another beginning may be whole.
fn candidates(words: &mut Words<'_>, empty: u64) -> Vec<u64> {
    // The first empty bin may be any of the bins.
    let starts = (0..BINS).filter_map(|phase| empty.checked_sub(phase.wrapping_mul(16)));
    let counted = starts.map(|bins| (whole_bins(words, bins), bins));
    let mut counted: Vec<(u64, u64)> = counted.filter(|(whole, _)| *whole >= MIN_WHOLE).collect();
    counted.sort_unstable_by(|one, other| other.cmp(one));
    counted.into_iter().map(|(_, bins)| bins).collect()
}

/// Where empty bins begin that stand near each other: an empty bin points to itself.
fn groups(words: &mut Words<'_>, range: AddrRange) -> Vec<u64> {
    let mut starts = Vec::new();
    let (mut first, mut count) = (0_u64, 0_usize);
    let mut at = range.start.get().next_multiple_of(8);
    while at < range.end.get() {
        let run = words.run(at);
        let (pairs, _) = run.as_chunks::<8>();
        let mut before = 0;
        for (index, word) in (0_u64..).zip(pairs) {
            let here = at.wrapping_add(index.wrapping_mul(8));
            if here >= range.end.get() {
                break;
            }
            let value = u64::from_le_bytes(*word);
            // The second of two equal words points to 24 bytes before itself.
            if value == before && value == here.wrapping_sub(24) {
                let pair = here.wrapping_sub(8);
                if count > 0
                    && pair.wrapping_sub(first) < BINS.wrapping_mul(16)
                    && pair.wrapping_sub(first) % 16 == 0
                {
                    count = count.saturating_add(1);
                } else {
                    (first, count) = (pair, 1);
                }
                if count == MIN_EMPTY && starts.len() < MAX_CANDIDATES {
                    starts.push(first);
                }
            }
            before = value;
        }
        at = at.saturating_add((run.len() as u64).next_multiple_of(8).max(8));
    }
    starts
}

/// How many of the bins at an address are empty or lead to chunks that lead back; 0 where too few are.
fn whole_bins(words: &mut Words<'_>, bins: u64) -> u64 {
    let (mut whole, mut bad) = (0_u64, 0_u64);
    for index in 0..BINS {
        if is_whole(words, bins.wrapping_add(index.wrapping_mul(16))) {
            whole = whole.wrapping_add(1);
        } else {
            bad = bad.wrapping_add(1);
            if bad > BINS.wrapping_sub(MIN_WHOLE) {
                return 0;
            }
        }
    }
    whole
}

fn is_whole(words: &mut Words<'_>, bin: u64) -> bool {
    let header = bin.wrapping_sub(16);
    let (Some(first), Some(last)) = (words.word(bin), words.word(bin.wrapping_add(8))) else {
        return false;
    };
    if first == header || last == header {
        return first == last;
    }
    // The words of the bins are wanted next: they stay with this reader.
    let mut chunks = Words::new(words.space());
    chunks.word(first.wrapping_add(24)) == Some(header)
        && chunks.word(last.wrapping_add(16)) == Some(header)
}

/// The ring of the main arena with these bins.
fn ring_of(words: &mut Words<'_>, bins: u64) -> Option<ArenaRing> {
    let layout = ARENAS.iter().rev().find(|layout| fits(words, bins, layout))?;
    let main = bins.wrapping_sub(layout.bins);
    let mut arenas = vec![Arena { at: Addr::new(main), heap: None }];
    let mut seen = FxHashSet::from_iter([main]);
    let mut at = main;
    let end = loop {
        let Some(next) = words.word(at.wrapping_add(layout.bins).wrapping_add(NEXT)) else {
            break RingEnd::Missing;
        };
        if next == main {
            break RingEnd::Closed;
        }
        if words.word(next).is_none() && next >> 47 == 0 && next.is_multiple_of(8) {
            break RingEnd::Missing;
        }
        let heap = heap_of(words, next);
        if heap.is_none() || !seen.insert(next) || arenas.len() >= MAX_ARENAS {
            break RingEnd::Torn;
        }
        arenas.push(Arena { at: Addr::new(next), heap });
        at = next;
    };
    Some(ArenaRing { arenas, layout, end })
}

/// The first heap of an arena, which begins with the address of the arena, and to what heaps are aligned.
fn heap_of(words: &mut Words<'_>, arena: u64) -> Option<(u64, Addr)> {
    HEAP_SIZES.iter().find_map(|size| {
        let heap = arena & !size.wrapping_sub(1);
        (words.word(heap)? == arena).then_some((*size, Addr::new(heap)))
    })
}

/// Whether the words around these bins are those of a main arena of a layout: `next` leads to itself or to an arena in a
/// heap, and what was taken from the system is no more than the most.
fn fits(words: &mut Words<'_>, bins: u64, layout: &ArenaLayout) -> bool {
    let arena = bins.wrapping_sub(layout.bins);
    let mut member = |offset: u64| words.word(arena.wrapping_add(offset));
    let next = member(layout.bins.wrapping_add(NEXT));
    let (system, most) = (member(layout.system_mem), member(layout.system_mem.wrapping_add(8)));
    let attached = layout.attached.map(&mut member);
    let (Some(next), Some(system), Some(most)) = (next, system, most) else { return false };
    let threads_fit = match attached {
        Some(threads) => threads.is_some_and(|threads| threads < MANY_THREADS),
        None => system == 0 || system >= MANY_THREADS,
    };
    system <= most && threads_fit && leads_back(words, next, arena, layout)
}

/// Whether an arena leads to another one on the way on, or the ring to where it began. The first link alone decides
/// where a later one is torn.
fn leads_back(words: &mut Words<'_>, next: u64, main: u64, layout: &ArenaLayout) -> bool {
    if next == main {
        return true;
    }
    let bins = next.wrapping_add(layout.bins);
    heap_of(words, next).is_some() && whole_bins(words, bins) > 0
}

/// The minor version of the copy of glibc that a module is or holds, as it says itself.
pub fn version_of(host: &dyn HeapHost, held: &[AddrRange], module: &dyn HeapModule) -> Option<u32> {
    const SIGN: &[u8] = b"stable release version 2.";
    let finder = memmem::Finder::new(SIGN);
    let mut left = MAX_CONSTANTS;
    let mut words = Words::new(host.space());
    for range in module.constants().into_iter().flat_map(|range| held_parts(held, range)) {
        let mut at = range.start.get();
        while at < range.end.get() && left > 0 {
            let run = words.run(at);
            let len = range.end.get().wrapping_sub(at).min(run.len() as u64).min(left);
            let bytes = run.get(..usize::try_from(len).unwrap_or(0)).unwrap_or_default();
            if let Some(found) = finder.find(bytes) {
                let digits = bytes.get(found.saturating_add(SIGN.len())..)?;
                return number(digits);
            }
            left = left.saturating_sub(len);
            at = at.saturating_add(len.max(4096));
        }
    }
    None
}

fn number(digits: &[u8]) -> Option<u32> {
    let digits: Vec<u8> = digits.iter().copied().take(4).take_while(u8::is_ascii_digit).collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

impl Arena {
    /// A word of its `malloc_state`.
    pub fn word(&self, words: &mut Words<'_>, offset: u64) -> Option<u64> {
        words.word(self.at.get().wrapping_add(offset))
    }

    /// Its `top`.
    pub fn top(&self, words: &mut Words<'_>, layout: &ArenaLayout) -> Option<u64> {
        self.word(words, layout.bins.wrapping_sub(TOP_BEFORE_BINS))
    }

    /// Its flags.
    pub fn flags(&self, words: &mut Words<'_>) -> u32 {
        words.half(self.at.get().wrapping_add(4)).unwrap_or(0)
    }

    /// Whether somebody holds its lock.
    pub fn is_locked(&self, words: &mut Words<'_>) -> Option<bool> {
        words.half(self.at.get()).map(|lock| lock != 0)
    }
}
