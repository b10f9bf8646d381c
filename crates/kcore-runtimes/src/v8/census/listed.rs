//! Whether a chunk is one of its space, or kept by V8 to make another of.
//!
//! A space has a list of its chunks, and each is linked with the next and the one before (`heap::ListNode` in
//! `src/heap/list.h`, a member of `MutablePageMetadata` or `MemoryChunk`, and `Space::memory_chunk_list_` in
//! `src/heap/spaces.h`). A chunk that is emptied leaves the list, its links are cleared, and it is kept as it was
//! (`src/heap/memory-allocator.cc`, `page-pool.cc`): nothing else tells, in all versions alike.

use kcore_mem::{Addr, Fault};

use super::{super::Heap, chunk::described_at};

/// The links of a chunk lie within so many words of what describes it.
const DESCRIPTION: u64 = 64;
/// The ends of its list lie within so many words of a space.
const SPACE: u64 = 64;
/// No chunk is described below.
const LOWEST: u64 = 1 << 16;

/// Whether a space has the chunk that is described at `holder` in its list, as far as that was dumped. Chunks
/// without a space are shared, and those of no list.
pub fn is_listed(heap: &Heap<'_>, holder: Addr, space: Addr) -> bool {
    space.get() == 0
        || words(heap, holder, DESCRIPTION).any(|word| is_link(heap, holder, word))
        || is_end(heap, holder, space)
}

/// Whether a space that was dumped has the chunk at an end of its list: it may be the only one.
fn is_end(heap: &Heap<'_>, holder: Addr, space: Addr) -> bool {
    heap.word(space, 0).is_none() || words(heap, space, SPACE).any(|word| word == holder)
}

/// Whether a word of what describes a chunk leads to another chunk, or to what was not dumped and may be one.
fn is_link(heap: &Heap<'_>, holder: Addr, word: Addr) -> bool {
    let is_missing = || heap.space.slice(word).is_err_and(|why| !matches!(why, Fault::Unmapped(_)));
    word != holder && (described_at(heap, word).is_some() || is_missing())
}

/// Words from an address on that may be addresses.
fn words<'a>(heap: &Heap<'a>, at: Addr, count: u64) -> impl Iterator<Item = Addr> + 'a {
    let heap = *heap;
    let words = (0..count).map_while(move |index| heap.word(at, index.saturating_mul(8)));
    words.filter(|word| *word >= LOWEST && word.is_multiple_of(8)).map(Addr::new)
}
