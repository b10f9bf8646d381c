//! Whose a heap is, where more than one V8 lives in a process.
//!
//! The data of an isolate lies around its heap, and is full of addresses of builtins and functions of its own V8
//! (`src/execution/isolate-data.h`, `src/codegen/external-reference-table.h`).

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use kcore_mem::{Addr, AddrRange};

use super::{
    V8,
    census::{Chunk, around_heap, chunk_at},
};
use crate::Host;

/// Heaps that are remembered, at most.
const MAX_HEAPS: usize = 1 << 10;
/// Memory is mapped in pages; the address of a byte within one.
const PAGE_MASK: u64 = 4095;

/// Where the V8s of a process lie.
#[derive(Debug)]
pub struct Homes {
    /// The module that this one lies in.
    own: AddrRange,
    /// The modules that others lie in.
    others: Vec<AddrRange>,
    /// Heaps that were asked about, and whether they are this one's.
    known: Mutex<BTreeMap<Addr, bool>>,
}

impl Homes {
    /// Of one V8, among all modules that one lies in.
    pub fn new(own: AddrRange, all: &[AddrRange]) -> Self {
        let others = all.iter().copied().filter(|span| *span != own).collect();
        Self { own, others, known: Mutex::default() }
    }

    /// Whether another V8 lies in a module.
    pub fn is_other(&self, span: AddrRange) -> bool {
        self.others.contains(&span)
    }
}

impl V8 {
    /// Whether an object lies in a heap of this V8, and not in one of another.
    pub fn owns_object(&self, host: &dyn Host, at: Addr) -> bool {
        if self.homes.others.is_empty() {
            return true;
        }
        let chunk = chunk_at(&self.heap(host), at);
        chunk.is_some_and(|chunk| chunk.heap.get() == 0 || self.owns_heap(host, chunk.heap))
    }

    /// Leaves those chunks that are of heaps of this V8, and what its isolates share.
    pub(super) fn leave_own(&self, host: &dyn Host, chunks: &mut Vec<Chunk>) {
        if self.homes.others.is_empty() {
            return;
        }
        chunks.retain(|chunk| chunk.heap.get() == 0 || self.owns_heap(host, chunk.heap));
        let mut heaps: Vec<Addr> = chunks.iter().map(|chunk| chunk.heap).collect();
        heaps.sort_unstable();
        heaps.dedup();
        heaps.retain(|heap| heap.get() != 0);
        heaps.truncate(MAX_HEAPS);
        let words: Vec<u64> = heaps.iter().flat_map(|heap| words_around(host, *heap)).collect();
        let is_shared = |area: AddrRange| {
            words.iter().any(|word| word & 3 == 1 && area.contains(Addr::new(word & !3)))
        };
        chunks.retain(|chunk| chunk.heap.get() != 0 || is_shared(chunk.area));
    }

    /// Whether this V8 is alone in its process.
    pub(super) const fn is_alone(&self) -> bool {
        self.homes.others.is_empty()
    }

    fn owns_heap(&self, host: &dyn Host, heap: Addr) -> bool {
        let mut known = self.homes.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&heap) {
            return *known;
        }
        let owns = self.is_nearest(&words_around(host, heap));
        if known.len() < MAX_HEAPS {
            known.insert(heap, owns);
        }
        owns
    }

    /// Whether more words lie in this V8 than in any other. Where none does in any, the lowest one has it.
    fn is_nearest(&self, words: &[u64]) -> bool {
        let count =
            |span: &AddrRange| words.iter().filter(|word| span.contains(Addr::new(**word))).count();
        let own = (count(&self.homes.own), std::cmp::Reverse(self.homes.own.start));
        let others = self.homes.others.iter();
        others.map(|other| (count(other), std::cmp::Reverse(other.start))).all(|other| other < own)
    }
}

/// The words of the data of an isolate.
fn words_around(host: &dyn Host, heap: Addr) -> Vec<u64> {
    let range = around_heap(host.space(), heap);
    let mut words = Vec::new();
    let mut at = range.start;
    while at < range.end {
        // What lies before the data of the isolate may not be mapped.
        let bytes = host.space().read_held(at, range.end.offset_from(at).unwrap_or(0));
        let (held, _) = bytes.as_chunks();
        words.extend(held.iter().map(|word| u64::from_le_bytes(*word)));
        let next = at.saturating_add(bytes.len() as u64).get() | PAGE_MASK;
        at = Addr::new(next).saturating_add(1);
    }
    words
}
