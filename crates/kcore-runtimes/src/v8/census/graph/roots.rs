//! What keeps objects from outside of the heap.
//!
//! Certain are words of stacks and registers of threads, of the data of isolates, and contexts of the
//! global object. Handles of the embedder, and whatever else V8 allocated elsewhere, cannot be told from
//! what is left of them in memory that was freed: words of any other memory that refer to objects are
//! guessed to keep them, and count where nothing certain does.

use std::collections::BTreeSet;

use kcore_mem::{Addr, AddrRange, Origin};
use kcore_unwind::{RegisterId, Tid};
use rayon::prelude::*;

use super::{super::Census, node_at};
use crate::{
    Host,
    v8::{Heap, census::shape::native_context},
};

/// The data of an isolate lies around its heap: so far before and behind.
const BEFORE_HEAP: u64 = 0x18000;
const BEHIND_HEAP: u64 = 0x2000;
/// Bytes that one thread looks at.
const PIECE: u64 = 1 << 20;
/// DWARF numbers of the registers that a word may be in.
const REGISTERS: u16 = 16;
/// Roots that are remembered, at most.
const MAX_ROOTS: usize = 1 << 24;

/// What keeps an object from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Root {
    /// What it is.
    pub kind: RootKind,
    /// Where the word lies that refers to the object.
    pub at: Option<Addr>,
    /// The number of the object.
    pub node: u32,
}

/// What a root is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RootKind {
    /// The context of a global object.
    Context,
    /// A register of a thread.
    Register(Tid),
    /// A word of the stack of a thread.
    Stack(Tid),
    /// The data of an isolate.
    Isolate,
    /// A word of other memory: a handle, or what is left of one.
    Guessed,
}

/// The roots that are certain, and those that are guessed.
pub fn find(host: &dyn Host, heap: &Heap<'_>, census: &Census) -> (Vec<Root>, Vec<Root>) {
    let stacks = stacks(host);
    let mut certain = contexts(heap, census);
    certain.extend(registers(host, census));
    let mut guessed = Vec::new();
    let isolates = isolates(census);
    let pieces: Vec<AddrRange> =
        memory(host, heap, census, &stacks).into_iter().flat_map(pieces).collect();
    let found: Vec<Vec<(Addr, u32)>> =
        pieces.par_iter().map(|piece| words(heap, census, *piece)).collect();
    for (at, node) in found.into_iter().flatten().take(MAX_ROOTS) {
        let stack = stacks.iter().find(|(range, _)| range.contains(at));
        let kind = match stack {
            Some((_, tid)) => RootKind::Stack(*tid),
            None if isolates.iter().any(|range| range.contains(at)) => RootKind::Isolate,
            None => RootKind::Guessed,
        };
        let roots = if kind == RootKind::Guessed { &mut guessed } else { &mut certain };
        roots.push(Root { kind, at: Some(at), node });
    }
    (certain, guessed)
}

fn contexts(heap: &Heap<'_>, census: &Census) -> Vec<Root> {
    let kind = native_context(heap.layout);
    let maps = census.maps().iter().filter(|map| map.kind == kind);
    let words: BTreeSet<u64> = maps.map(|map| map.map.get() | 1).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let is_one = |at: &Addr| heap.word(*at, 0).is_some_and(|word| words.contains(&word));
    let found = census.objects().filter(is_one).filter_map(|at| node_at(census, at));
    found.map(|node| Root { kind: RootKind::Context, at: None, node }).collect()
}

fn registers(host: &dyn Host, census: &Census) -> Vec<Root> {
    let of_thread = |tid: Tid| {
        let regs = host.registers(tid);
        let values = (0..REGISTERS).filter_map(move |number| regs?.get(RegisterId(number)));
        let nodes = values.filter_map(|word| target(census, word));
        nodes.map(move |node| Root { kind: RootKind::Register(tid), at: None, node })
    };
    host.threads().into_iter().flat_map(of_thread).collect()
}

/// The used parts of stacks.
fn stacks(host: &dyn Host) -> Vec<(AddrRange, Tid)> {
    let stack = |tid: Tid| {
        let sp = Addr::new(host.registers(tid)?.get(RegisterId(7))?);
        let range = host.range_at(sp)?.range;
        Some((AddrRange::new(Addr::new(sp.get() & !7), range.end), tid))
    };
    host.threads().into_iter().filter_map(stack).collect()
}

fn isolates(census: &Census) -> Vec<AddrRange> {
    let heaps: BTreeSet<Addr> = census.areas().iter().map(|area| area.chunk.heap).collect();
    let around = |at: Addr| {
        let first = Addr::new(at.get().saturating_sub(BEFORE_HEAP));
        AddrRange::new(first, at.saturating_add(BEHIND_HEAP))
    };
    heaps.into_iter().filter(|at| at.get() != 0).map(around).collect()
}

/// The memory in which roots are searched: what was dumped, but code, the heap itself, and what of stacks is
/// not used.
fn memory(
    host: &dyn Host,
    heap: &Heap<'_>,
    census: &Census,
    stacks: &[(AddrRange, Tid)],
) -> Vec<AddrRange> {
    let code = host.ranges().into_iter().filter(|range| range.executable).map(|it| it.range);
    let chunks = census.areas().iter().map(|area| area.chunk);
    let chunks = chunks.map(|chunk| AddrRange::new(chunk.base, chunk.area.end.max(chunk.base)));
    let unused = stacks.iter().filter_map(|(stack, _)| {
        let whole = host.range_at(stack.start)?.range;
        let lowest = stacks.iter().map(|(stack, _)| stack.start).filter(|sp| whole.contains(*sp));
        Some(AddrRange::new(whole.start, lowest.min()?))
    });
    let mut left_out: Vec<AddrRange> = code.chain(chunks).chain(unused).collect();
    left_out.sort_unstable();
    let regions = heap.space.regions().into_iter().filter(|region| region.origin == Origin::Core);
    regions.flat_map(|region| without(region.range, &left_out)).collect()
}

/// A range without others, which are in order.
fn without(range: AddrRange, others: &[AddrRange]) -> Vec<AddrRange> {
    let mut parts = Vec::new();
    let mut at = range.start;
    for other in others.iter().filter(|other| other.intersection(&range).is_some()) {
        if other.start > at {
            parts.push(AddrRange::new(at, other.start));
        }
        at = at.max(other.end);
    }
    if at < range.end {
        parts.push(AddrRange::new(at, range.end));
    }
    parts
}

fn pieces(range: AddrRange) -> impl Iterator<Item = AddrRange> {
    let end = range.end;
    let piece = move |from: Addr| {
        (from < end).then(|| AddrRange::new(from, end.min(from.saturating_add(PIECE))))
    };
    let first = Addr::new(range.start.get().next_multiple_of(8));
    std::iter::successors(piece(first), move |last| piece(last.end))
}

/// The words of a piece of memory that refer to objects, and the numbers of those.
fn words(heap: &Heap<'_>, census: &Census, piece: AddrRange) -> Vec<(Addr, u32)> {
    let mut found = Vec::new();
    let mut at = piece.start;
    while at < piece.end {
        let Ok(bytes) = heap.space.slice(at) else { return found };
        let wanted = piece.end.offset_from(at).and_then(|len| usize::try_from(len).ok());
        let bytes = bytes.get(..wanted.unwrap_or(usize::MAX)).unwrap_or(bytes);
        let (words, _) = bytes.as_chunks();
        for (index, word) in (0_u64..).zip(words) {
            let word = u64::from_le_bytes(*word);
            if word & 3 == 1
                && let Some(node) = target(census, word)
            {
                found.push((at.saturating_add(index.saturating_mul(8)), node));
            }
        }
        at = at.saturating_add((bytes.len() as u64).next_multiple_of(8).max(8));
    }
    found
}

fn target(census: &Census, word: u64) -> Option<u32> {
    (word & 3 == 1).then(|| node_at(census, Addr::new(word & !3)))?
}
