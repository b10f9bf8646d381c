//! Go's heap: spans of slots of one size, what is in them, and what keeps it (`runtime/mheap.go`, `runtime/mbitmap.go`).
//!
//! An object has no header that says its type. Types are found from where programs say them: in interfaces, in front of
//! objects of more than 512 bytes since Go 1.22, and from there along the fields of the types that are known.

mod census;
mod class;
mod collector;
mod edges;
mod layout;
mod objects;
mod place;
mod pointers;
mod roots;
mod size_class;
mod sizes;
mod slots;
mod span;
mod special;
#[cfg(test)]
mod tests;
mod whatis;

use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, AddrRange, AddressSpace};
use kcore_parallel::prelude::*;
use kcore_unwind::Tid;

pub use collector::{Collector, CollectorPhase};
pub use sizes::SizeClass;
pub use slots::TypeReader;
pub use special::{GoSpecial, Special, SpecialKind};

use self::{
    census::Types,
    layout::HeapLayout,
    span::{FoundSpan, Span},
};
use super::{Go, abi::Abi};
use crate::{
    Host,
    graph::{GraphCell, MAX_OBJECTS},
};

/// Spans that one thread reads at a time.
const JOB: usize = 256;

/// The heap once somebody asked for it.
#[derive(Default)]
pub struct HeapCell {
    /// `runtime.mheap_`, where somebody said where it lies.
    known: Option<Addr>,
    heap: OnceLock<Result<Arc<Heap>, String>>,
    types: OnceLock<Arc<Types>>,
    graph: GraphCell,
}

impl HeapCell {
    /// Of the heap whose `runtime.mheap_` lies at an address.
    pub fn at(known: Addr) -> Self {
        Self { known: Some(known), ..Self::default() }
    }
}

/// Bytes of an arena, which begins at a multiple of them: `heapArenaBytes` of Linux with 64 bits (`runtime/malloc.go`).
const ARENA_SIZE: u64 = 64 << 20;
/// Bytes of the largest stack in an arena that is no goroutine's: that on which a thread handles signals
/// (`runtime/os_linux.go`, `mpreinit`).
const STACK_OF_SIGNALS: u64 = 32 << 10;

/// All spans of a heap.
pub struct Heap {
    pub(super) layout: HeapLayout,
    abi: &'static Abi,
    /// `runtime.mheap_`.
    pub(super) at: Addr,
    /// How often it was swept, twice.
    pub(super) generation: u32,
    /// Spans with objects, lowest first; none overlaps another.
    pub(super) spans: Vec<Span>,
    /// Spans with stacks and other things of the runtime, lowest first.
    pub(super) manual: Vec<AddrRange>,
    /// Whether a slot has an object, a bit for each, by the number of the slot.
    used: Vec<u64>,
    /// Spans that cannot be read or do not hold together.
    pub(super) damaged: u64,
}

impl Go {
    /// The heap of its runtime.
    ///
    /// # Errors
    /// In words, where it is not found or cannot be read.
    pub(super) fn heap(&self, host: &dyn Host) -> Result<&Arc<Heap>, &str> {
        let heap = self.heap.heap.get_or_init(|| Heap::load(self, host).map(Arc::new));
        heap.as_ref().map_err(String::as_str)
    }
}

impl Go {
    /// Whether an address lies in an arena with goroutines, and so far from where each thread stands that it is on the
    /// stack of none: what can be said where the heap's spans were not copied.
    pub(super) fn is_far_from_threads(&self, host: &dyn Host, at: Addr) -> bool {
        let arena = arena_of(at);
        let mut all = self.goroutines(host).iter();
        let is_near = |tid: &Tid| {
            let sp = host.stack_pointer(*tid);
            sp.is_some_and(|sp| sp.get().abs_diff(at.get()) <= STACK_OF_SIGNALS)
        };
        all.any(|goroutine| arena.contains(goroutine.at)) && !host.threads().iter().any(is_near)
    }
}

/// The arena that an address would lie in.
fn arena_of(at: Addr) -> AddrRange {
    AddrRange::with_len(Addr::new(at.get() & !(ARENA_SIZE - 1)), ARENA_SIZE)
}

impl Heap {
    fn load(go: &Go, host: &dyn Host) -> Result<Self, String> {
        let layout = HeapLayout::of(go.layout.minor);
        let space = host.space();
        let at = go.heap.known.or_else(|| place::find(go, host, &layout));
        let at = at.ok_or("the heap of Go, runtime.mheap_, is not found, or was not dumped")?;
        let all = at.saturating_add(layout.all_spans);
        let generation = place::generation(space, all).ok_or("runtime.mheap_ cannot be read")?;
        let held: u64 = host.regions().iter().map(|region| region.range.len()).sum();
        let spans = place::spans(space, all, held)?;
        let mut heap = Self {
            layout,
            abi: go.abi,
            at,
            generation,
            spans: Vec::new(),
            manual: Vec::new(),
            used: Vec::new(),
            damaged: 0,
        };
        heap.fill(space, &spans, held);
        Ok(heap)
    }

    fn fill(&mut self, space: &dyn AddressSpace, all: &[Addr], held: u64) {
        let (layout, generation) = (self.layout, self.generation);
        let load = |at: &Addr| Span::load(space, &layout, generation, *at);
        let found: Vec<Vec<FoundSpan>> =
            all.par_chunks(JOB).map(|job| job.iter().map(load).collect()).collect();
        for found in found.into_iter().flatten() {
            match found {
                FoundSpan::Objects(span) => self.spans.push(span),
                FoundSpan::Manual(pages) => self.manual.push(pages),
                FoundSpan::Free => {}
                FoundSpan::Damaged => self.damaged = self.damaged.saturating_add(1),
            }
        }
        self.manual.sort_unstable();
        self.order(held);
        self.read_used(space);
    }

    /// Puts the spans in order and numbers their slots. What overlaps, or is more than memory holds, is damage.
    fn order(&mut self, held: u64) {
        self.spans.sort_unstable_by_key(|span| span.pages.start);
        let (mut end, mut bytes, mut slots) = (Addr::new(0), 0_u64, 0_u64);
        let damaged = &mut self.damaged;
        self.spans.retain_mut(|span| {
            let used = bytes.saturating_add(span.pages.len());
            let next = slots.saturating_add(u64::from(span.count));
            let fits = span.pages.start >= end && used <= held && next <= MAX_OBJECTS;
            if fits {
                span.first = u32::try_from(slots).unwrap_or(u32::MAX);
                (end, bytes, slots) = (span.pages.end, used, next);
            } else {
                *damaged = damaged.saturating_add(1);
            }
            fits
        });
    }

    fn read_used(&mut self, space: &dyn AddressSpace) {
        self.used = vec![0; self.slot_count().div_ceil(64) as usize];
        let layout = self.layout;
        for job in self.spans.chunks(JOB.saturating_mul(JOB)) {
            let of_job: Vec<Option<Vec<u8>>> =
                job.par_iter().map(|span| span.used(space, &layout)).collect();
            for (span, bits) in job.iter().zip(of_job) {
                let Some(bits) = bits else {
                    self.damaged = self.damaged.saturating_add(1);
                    continue;
                };
                let has = |index: &u32| {
                    bits.get(*index as usize / 8).is_some_and(|byte| byte >> (*index % 8) & 1 != 0)
                };
                for index in (0..span.count).filter(has) {
                    let number = span.first.saturating_add(index);
                    if let Some(word) = self.used.get_mut(number as usize / 64) {
                        *word |= 1 << (number % 64);
                    }
                }
            }
        }
    }

    /// How many slots all spans have.
    fn slot_count(&self) -> u32 {
        self.spans.last().map_or(0, |span| span.first.saturating_add(span.count))
    }

    /// The span that holds an address.
    fn span_at(&self, at: Addr) -> Option<&Span> {
        let behind = self.spans.partition_point(|span| span.pages.start <= at);
        self.spans.get(behind.checked_sub(1)?).filter(|span| span.pages.contains(at))
    }

    /// Whether an address lies in a span with objects.
    pub(super) fn has(&self, at: Addr) -> bool {
        self.span_at(at).is_some()
    }

    /// Whether an address lies in the heap, in an object or in pages that nothing has: not in a span with a stack or
    /// another of the runtime's own things.
    pub(super) fn has_beside_stacks(&self, at: Addr) -> bool {
        self.has(at) || (self.has_in_arena_of(at) && !self.is_manual(at))
    }

    /// Whether a span with objects begins in the arena of an address.
    fn has_in_arena_of(&self, at: Addr) -> bool {
        let arena = arena_of(at);
        let first = self.spans.partition_point(|span| span.pages.start < arena.start);
        self.spans.get(first).is_some_and(|span| arena.contains(span.pages.start))
    }

    /// Whether an address lies in a span with a stack or another of the runtime's own things.
    fn is_manual(&self, at: Addr) -> bool {
        let behind = self.manual.partition_point(|pages| pages.start <= at);
        behind
            .checked_sub(1)
            .and_then(|last| self.manual.get(last))
            .is_some_and(|pages| pages.contains(at))
    }

    /// The span and slot that hold an address.
    fn slot_at(&self, at: Addr) -> Option<(&Span, u32)> {
        let span = self.span_at(at)?;
        Some((span, span.index_of(at)?))
    }

    /// The span and slot of the object that holds an address.
    fn object_at(&self, at: Addr) -> Option<(&Span, u32)> {
        self.slot_at(at).filter(|(span, index)| self.is_used(span, *index))
    }

    /// The span and index of the slot of a number.
    fn numbered(&self, slot: u32) -> Option<(&Span, u32)> {
        let behind = self.spans.partition_point(|span| span.first <= slot);
        let span = self.spans.get(behind.checked_sub(1)?)?;
        Some((span, slot.checked_sub(span.first).filter(|index| *index < span.count)?))
    }

    fn is_used(&self, span: &Span, index: u32) -> bool {
        let number = span.first.saturating_add(index);
        self.used.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// The objects of a span, by the numbers of their slots in it.
    fn objects_of<'a>(&'a self, span: &'a Span) -> impl Iterator<Item = u32> + 'a {
        (0..span.count).filter(|index| self.is_used(span, *index))
    }
}
