//! What threads were about to allocate from: memory that is no object yet.
//!
//! `LinearAllocationArea` in `src/heap/linear-allocation-area.h`: where it began, the next object, and its
//! end. Those of the main thread lie before its heap, in the data of the isolate
//! (`src/execution/isolate-data.h`), since V8 10. Those of other threads, which compile or collect, are anywhere
//! in the memory of C++, each behind the address of its heap (`LocalAllocationBuffer` in `src/heap/spaces.h`).

use std::collections::BTreeSet;

use kcore_mem::{Addr, AddrRange};
use kcore_parallel::prelude::*;

use super::{super::Heap, chunk::Chunk};

/// Isolates, at most.
const MAX_ISOLATES: usize = 1 << 10;
/// The data of an isolate begins no further before its heap.
pub const MAX_BEFORE: u64 = 0x18000;

/// Words that one thread looks through at a time.
const JOB: usize = 1 << 16;

/// What is about to be allocated from, of all isolates and of all threads that have an area in `native`
/// memory, which has no chunks; lowest first.
pub fn unused(heap: &Heap<'_>, chunks: &[Chunk], native: &[AddrRange]) -> Vec<AddrRange> {
    let heaps: BTreeSet<Addr> = chunks.iter().map(|chunk| chunk.heap).collect();
    let heaps = heaps.into_iter().filter(|at| at.get() != 0).take(MAX_ISOLATES);
    let heaps: Vec<Addr> = heaps.collect();
    let mut unused: Vec<_> = heaps.iter().flat_map(|at| of_isolate(heap, chunks, *at)).collect();
    unused.extend(native.iter().flat_map(|range| of_threads(heap, chunks, &heaps, *range)));
    unused.sort_unstable();
    unused.dedup_by(|next, last| next.start < last.end);
    unused
}

/// The areas that follow the address of a heap.
fn of_threads(
    heap: &Heap<'_>,
    chunks: &[Chunk],
    heaps: &[Addr],
    range: AddrRange,
) -> Vec<AddrRange> {
    let mut found = Vec::new();
    let mut at = range.start;
    while let Some(left) = range.end.offset_from(at).filter(|left| *left > 0) {
        let Ok(bytes) = heap.space.slice(at) else { break };
        let bytes = bytes.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(bytes);
        let (words, _) = bytes.as_chunks::<8>();
        // Parts overlap by what an area has behind its first word.
        let parts = (0..words.len().div_ceil(JOB)).into_par_iter().flat_map_iter(|part| {
            let first = part.saturating_mul(JOB);
            let last = first.saturating_add(JOB.saturating_add(3)).min(words.len());
            of_words(chunks, heaps, words.get(first..last).unwrap_or_default())
        });
        found.par_extend(parts);
        at = at.saturating_add(bytes.len().max(1) as u64);
    }
    found
}

/// The areas among words. A comparison turns nearly all words away, before any search.
fn of_words(chunks: &[Chunk], heaps: &[Addr], words: &[[u8; 8]]) -> Vec<AddrRange> {
    let mut found = Vec::new();
    let (Some(lowest), Some(highest)) = (heaps.first(), heaps.last()) else { return found };
    for window in words.windows(4) {
        let [owner, start, top, limit] = window else { continue };
        let owner = Addr::new(u64::from_le_bytes(*owner));
        if owner < *lowest || *highest < owner || heaps.binary_search(&owner).is_err() {
            continue;
        }
        let [start, top, limit] = [start, top, limit].map(|word| u64::from_le_bytes(*word));
        found.extend(area(chunks, start, top, limit));
    }
    found
}

fn of_isolate(heap: &Heap<'_>, chunks: &[Chunk], at: Addr) -> Vec<AddrRange> {
    let first = Addr::new(at.get().saturating_sub(MAX_BEFORE));
    let bytes = heap.space.read_held(first, MAX_BEFORE);
    let (words, _) = bytes.as_chunks();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let triples = words.windows(3).filter_map(|words| match words {
        [start, top, limit] => area(chunks, *start, *top, *limit),
        _ => None,
    });
    triples.collect()
}

/// What lies between the next object and the end, if three words are such an area.
fn area(chunks: &[Chunk], start: u64, top: u64, limit: u64) -> Option<AddrRange> {
    let is_ordered = start <= top && top < limit && (start | top | limit).is_multiple_of(8);
    is_ordered.then_some(())?;
    let (start, unused) = (Addr::new(start), AddrRange::new(Addr::new(top), Addr::new(limit)));
    let after = chunks.partition_point(|chunk| chunk.area.start <= start);
    let chunk = chunks.get(after.checked_sub(1)?)?;
    (start < chunk.area.end && unused.end <= chunk.area.end).then_some(unused)
}
