//! Chunks with a mapping of their own. No list has them: they are looked for at the beginnings of pages.

use kcore_mem::AddrRange;

use super::{
    Glibc,
    chunk::{FLAGS, HEADER, MMAPPED},
};
use crate::{
    HeapHost,
    words::{Words, held_parts},
};

/// Chunks that are found, at most: the kernel allows 65,530 mappings, and neighbours share one.
const MAX_CHUNKS: usize = 1 << 20;
const PAGE: u64 = 4096;
/// Smallest alignment that moves a chunk away from the beginning of its mapping.
const MIN_ALIGNMENT: u32 = 5;

/// A chunk with a mapping of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mmapped {
    /// Where its mapping begins.
    pub start: u64,
    /// Where the chunk begins: further inside where the program asked for an alignment.
    pub at: u64,
    /// Where both end.
    pub end: u64,
}

/// All that are found, lowest first.
pub fn find(heap: &Glibc, host: &dyn HeapHost) -> Vec<Mmapped> {
    let mut found = Vec::new();
    if heap.par.is_some_and(|par| par.mmaps == 0) {
        return found;
    }
    let held = host.regions();
    for mapping in host.mappings().iter().filter(|it| it.writable && !it.is_file && !it.is_brk) {
        let outside = heap.outside_of_regions(host, mapping.range);
        for part in outside.into_iter().flat_map(|part| held_parts(&held, part)) {
            in_range(host, part, &mut found);
        }
    }
    found
}

fn in_range(host: &dyn HeapHost, range: AddrRange, found: &mut Vec<Mmapped>) {
    let mut words = Words::new(host.space());
    let mut at = range.start.get().next_multiple_of(PAGE);
    let end = range.end.get();
    while at < end && found.len() < MAX_CHUNKS {
        // Pages that are known to be zeros begin no chunk.
        let rest = AddrRange::new(kcore_mem::Addr::new(at), range.end);
        let Some(data) = host.space().first_data(rest) else { return };
        at = at.max(data.start.get() & !PAGE.wrapping_sub(1));
        match chunk_at(&mut words, at, end) {
            Some(chunk) => {
                found.push(chunk);
                at = chunk.end;
            }
            None => at = at.saturating_add(PAGE),
        }
    }
}

/// The chunk of the mapping that begins at a page. Its header is there, or further inside where the program asked for an
/// alignment: then the first header stays where it was, and `realloc` leaves it as it is.
fn chunk_at(words: &mut Words<'_>, at: u64, end: u64) -> Option<Mmapped> {
    let (before, word) = (words.word(at)?, words.word(at.wrapping_add(8))?);
    let size = word & !FLAGS;
    if before != 0 || word & FLAGS != MMAPPED || size == 0 || !size.is_multiple_of(PAGE) {
        return None;
    }
    let left = end.wrapping_sub(at);
    let whole = || (size <= left).then(|| Mmapped { start: at, at, end: at.wrapping_add(size) });
    moved(words, at, left).or_else(whole)
}

/// The chunk of a mapping that was moved towards an alignment: its header says by how much.
fn moved(words: &mut Words<'_>, start: u64, left: u64) -> Option<Mmapped> {
    let alignments = (MIN_ALIGNMENT..u64::BITS).map(|bit| 1_u64 << bit);
    let users = alignments.take_while(|alignment| *alignment <= left).flat_map(|alignment| {
        let first = start.wrapping_add(HEADER).next_multiple_of(alignment);
        [first, first.wrapping_add(alignment)]
    });
    users.map(|user| user.wrapping_sub(HEADER)).find_map(|at| {
        let moved = at.wrapping_sub(start);
        if moved == 0 || moved.saturating_add(HEADER) >= left || words.word(at)? != moved {
            return None;
        }
        let word = words.word(at.wrapping_add(8))?;
        let whole = (word & !FLAGS).checked_add(moved)?;
        let fits = word & FLAGS == MMAPPED && whole.is_multiple_of(PAGE) && whole <= left;
        fits.then(|| Mmapped { start, at, end: start.wrapping_add(whole) })
    })
}
