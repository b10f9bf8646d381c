//! Finding the chunks of a process.

use kcore_mem::{Addr, AddrRange, Fault};

use super::{
    chunk::{CHUNK, Chunk},
    maps::Maps,
    walk::{self, Walk},
};
use crate::{Host, v8::Heap};

/// Chunks, at most: a quarter of a terabyte of those of the usual size.
const MAX_CHUNKS: usize = 1 << 20;
/// Chunks whose beginning is damaged, at most.
const MAX_DAMAGED: usize = 1 << 12;
/// The beginning of a large chunk is searched so far back, in chunks: 16 GiB.
const MAX_BACK: usize = 1 << 16;
/// Bytes of memory that are looked at to see whether objects lie in it, at so many places of a chunk.
const SAMPLE: u64 = 4096;
const SAMPLES: u64 = 16;
/// So many objects are no chance.
const CERTAIN: usize = 16;

/// Memory that bytes were dumped of, lowest first and none beside another.
pub fn held_memory(heap: &Heap<'_>) -> Vec<AddrRange> {
    merged(heap.space.regions().into_iter().map(|region| region.range))
}

/// Ranges in order, of which those that lie beside each other are one.
pub fn merged(ranges: impl Iterator<Item = AddrRange>) -> Vec<AddrRange> {
    let mut merged: Vec<AddrRange> = Vec::new();
    for range in ranges {
        match merged.last_mut().filter(|last| last.end == range.start) {
            Some(last) => last.end = range.end,
            None => merged.push(range),
        }
    }
    merged
}

/// The chunks of all heaps of a process, lowest first: they lie in memory that is no file's.
pub fn chunks(host: &dyn Host, heap: &Heap<'_>, held: &[AddrRange]) -> Vec<Chunk> {
    let mut finder = Finder { heap: *heap, held, found: Vec::new(), damaged: 0 };
    for range in host.ranges().iter().filter(|range| !range.is_file) {
        finder.search(range.range);
    }
    finder.found
}

/// The chunk whose objects lie around an address. A large one may begin far before.
pub fn chunk_at(heap: &Heap<'_>, at: Addr) -> Option<Chunk> {
    let base = at.get() & !CHUNK.wrapping_sub(1);
    let bases = std::iter::successors(Some(base), |base| base.checked_sub(CHUNK));
    // No chunk has a gap.
    let is_mapped = |at: &Addr| !matches!(heap.space.slice(*at), Err(Fault::Unmapped(_)));
    let bases = bases.take(MAX_BACK).map(Addr::new).take_while(is_mapped);
    let mut chunks = bases.filter_map(|base| Chunk::load(heap, base));
    chunks.next().filter(|chunk| chunk.area.contains(at))
}

struct Finder<'a> {
    heap: Heap<'a>,
    held: &'a [AddrRange],
    found: Vec<Chunk>,
    damaged: usize,
}

impl Finder<'_> {
    fn search(&mut self, range: AddrRange) {
        let mut base = range.start.get().checked_next_multiple_of(CHUNK);
        // A large chunk may go on in other mappings.
        let after = self.found.last().map_or(0, |chunk| chunk.end().get());
        if let (Some(first), Some(after)) = (base, after.checked_next_multiple_of(CHUNK)) {
            base = Some(first.max(after));
        }
        while let Some(at) = base.filter(|at| *at < range.end.get()) {
            if self.found.len() >= MAX_CHUNKS {
                return;
            }
            let chunk = self.chunk(Addr::new(at), range.end);
            let end = chunk.map_or(at.saturating_add(1), |chunk| chunk.end().get());
            self.found.extend(chunk);
            base = end.checked_next_multiple_of(CHUNK);
        }
    }

    fn chunk(&mut self, base: Addr, end: Addr) -> Option<Chunk> {
        if let Some(chunk) = Chunk::load(&self.heap, base) {
            return Some(chunk);
        }
        let whole = AddrRange::new(base, end.min(base.saturating_add(CHUNK)));
        let samples = (0..SAMPLES).map(|sample| {
            let start = base.saturating_add(sample.saturating_mul(CHUNK / SAMPLES));
            AddrRange::with_len(start, SAMPLE)
        });
        let is_one = self.damaged < MAX_DAMAGED
            && samples.into_iter().any(|sample| self.holds_objects(sample));
        self.damaged = self.damaged.saturating_add(usize::from(is_one));
        is_one.then(|| Chunk::damaged(whole))
    }

    /// Whether memory that nothing describes holds objects: nearly all of it, and many of them. In a table of
    /// maps, which roots are, each word would be one.
    fn holds_objects(&self, sample: AddrRange) -> bool {
        let bytes = self.heap.space.slice(sample.start).unwrap_or_default();
        let (words, _) = bytes.as_chunks();
        let mut words = words.iter().take((SAMPLE / 8) as usize);
        if !words.any(|word| u64::from_le_bytes(*word) & 3 == 1) {
            return false;
        }
        let mut maps = Maps::new(self.heap);
        let mut walk = Walk::new(self.heap, &mut maps);
        let held = walk::held(sample, self.held);
        walk.area(sample, &held, &[]);
        let apart = walk.starts.windows(2).filter(|pair| match pair {
            [first, second] => second.saturating_sub(*first) > 1,
            _ => false,
        });
        let rest = walk.rest.blank.saturating_add(walk.rest.skipped);
        apart.count() >= CERTAIN && rest < SAMPLE / 4 && walk::len(&held) == SAMPLE
    }
}
