//! What threads were about to allocate from: memory that is no object yet.
//!
//! `LinearAllocationArea` in `src/heap/linear-allocation-area.h`: where it began, the next object, and its
//! end. Those of the main thread lie before its heap, in the data of the isolate
//! (`src/execution/isolate-data.h`), since V8 10.

use std::collections::BTreeSet;

use kcore_mem::{Addr, AddrRange};

use super::{super::Heap, chunk::Chunk};

/// Isolates, at most.
const MAX_ISOLATES: usize = 1 << 10;
/// The data of an isolate begins no further before its heap.
pub const MAX_BEFORE: u64 = 0x18000;

/// What is about to be allocated from, of all isolates, lowest first.
pub fn unused(heap: &Heap<'_>, chunks: &[Chunk]) -> Vec<AddrRange> {
    let heaps: BTreeSet<Addr> = chunks.iter().map(|chunk| chunk.heap).collect();
    let heaps = heaps.into_iter().filter(|at| at.get() != 0).take(MAX_ISOLATES);
    let mut unused: Vec<_> = heaps.flat_map(|at| of_isolate(heap, chunks, at)).collect();
    unused.sort_unstable();
    unused.dedup_by(|next, last| next.start < last.end);
    unused
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
