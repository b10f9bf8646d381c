//! What keeps objects from outside of the heap.
//!
//! Certain are words of stacks and registers of threads and of the data of isolates, and the contexts of
//! global objects that words outside of the heap refer to. Handles of the embedder, and whatever else V8
//! allocated elsewhere, cannot be told from what is left of them in memory that was freed: words of any other
//! memory that refer to objects are guessed to keep them, and so is what keeps a context that none refers to;
//! both count where nothing certain does.

use std::collections::{BTreeSet, HashSet};

use kcore_mem::{Addr, AddrRange, Origin};
use kcore_parallel::prelude::*;
use kcore_unwind::{RegisterId, Regs, Tid, machine};

use super::{
    super::{Census, Stopped, Watch, around_heap},
    node_at,
};
use crate::{
    Host,
    v8::{Heap, census::shape::native_context},
};

/// Bytes that one thread looks at.
const PIECE: u64 = 1 << 20;
/// Pieces between two looks at the user.
const STEP: usize = 64;
/// Isolates, at most.
const MAX_ISOLATES: usize = 1 << 10;
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
    /// One that nothing outside of the heap was seen to refer to.
    LoneContext,
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
///
/// # Errors
/// When whoever watches stopped it.
pub fn find(
    host: &dyn Host,
    heap: &Heap<'_>,
    census: &Census,
    watch: Watch<'_>,
) -> Result<(Vec<Root>, Vec<Root>), Stopped> {
    let stacks = stacks(host);
    let mut certain = registers(host, census);
    let mut guessed = Vec::new();
    let isolates = apart(isolates(heap, census));
    let pieces: Vec<AddrRange> =
        memory(host, census, &stacks).into_iter().flat_map(pieces).collect();
    for (at, node) in all_words(heap, census, &pieces, watch)? {
        let below = stacks.partition_point(|(stack, _)| stack.start <= at).checked_sub(1);
        let stack = below.and_then(|index| stacks.get(index));
        let kind = match stack.filter(|(range, _)| range.contains(at)) {
            Some((_, tid)) => RootKind::Stack(*tid),
            None if holds(&isolates, at) => RootKind::Isolate,
            None => RootKind::Guessed,
        };
        let roots = if kind == RootKind::Guessed { &mut guessed } else { &mut certain };
        roots.push(Root { kind, at: Some(at), node });
    }
    let referred: HashSet<u32> = certain.iter().chain(&guessed).map(|root| root.node).collect();
    let (kept, lone): (Vec<u32>, Vec<u32>) =
        contexts(heap, census, watch)?.into_iter().partition(|node| referred.contains(node));
    let root = |kind| move |node| Root { kind, at: None, node };
    certain.splice(0..0, kept.into_iter().map(root(RootKind::Context)));
    guessed.extend(lone.into_iter().map(root(RootKind::LoneContext)));
    Ok((certain, guessed))
}

/// The contexts of global objects.
fn contexts(heap: &Heap<'_>, census: &Census, watch: Watch<'_>) -> Result<Vec<u32>, Stopped> {
    let kind = native_context(heap.layout);
    let found = census.select(heap, |map| map.kind == kind, watch)?;
    Ok(found.into_iter().filter_map(|at| node_at(census, at)).collect())
}

/// The words of pieces of memory that refer to objects, and the numbers of those.
fn all_words(
    heap: &Heap<'_>,
    census: &Census,
    pieces: &[AddrRange],
    watch: Watch<'_>,
) -> Result<Vec<(Addr, u32)>, Stopped> {
    let mut found = Vec::new();
    for (step, pieces_of_step) in pieces.chunks(STEP).enumerate() {
        let parts: Vec<Vec<(Addr, u32)>> =
            pieces_of_step.par_iter().map(|piece| words(heap, census, *piece)).collect();
        found.extend(parts.into_iter().flatten());
        found.truncate(MAX_ROOTS);
        if watch(step.saturating_mul(STEP) as u64, pieces.len() as u64).is_break() {
            return Err(Stopped);
        }
    }
    Ok(found)
}

fn registers(host: &dyn Host, census: &Census) -> Vec<Root> {
    let of_thread = |tid: Tid| {
        let regs = host.registers(tid);
        let numbers = 0..u16::try_from(Regs::COUNT).unwrap_or(u16::MAX);
        let values = numbers.filter_map(move |number| regs?.get(RegisterId(number)));
        let nodes = values.filter_map(|word| target(census, word));
        nodes.map(move |node| Root { kind: RootKind::Register(tid), at: None, node })
    };
    host.threads().into_iter().flat_map(of_thread).collect()
}

/// The used parts of stacks, lowest first: one may be within the mapping of the one before.
fn stacks(host: &dyn Host) -> Vec<(AddrRange, Tid)> {
    let Some(machine) = machine(host.space().target(), None) else { return Vec::new() };
    let stack = |tid: Tid| {
        let sp = Addr::new(host.registers(tid)?.get(machine.stack_pointer())?);
        let range = host.range_at(sp)?.range;
        Some((AddrRange::new(Addr::new(sp.get() & !7), range.end), tid))
    };
    let mut stacks: Vec<_> = host.threads().into_iter().filter_map(stack).collect();
    stacks.sort_unstable();
    stacks
}

fn isolates(heap: &Heap<'_>, census: &Census) -> Vec<AddrRange> {
    let heaps: BTreeSet<Addr> = census.areas().iter().map(|area| area.chunk.heap).collect();
    let heaps = heaps.into_iter().filter(|at| at.get() != 0).take(MAX_ISOLATES);
    heaps.map(|at| around_heap(heap.space, at)).collect()
}

/// The memory in which roots are searched: what was dumped, but code, the heap itself, and what of stacks is
/// not used.
fn memory(host: &dyn Host, census: &Census, stacks: &[(AddrRange, Tid)]) -> Vec<AddrRange> {
    let code = host.ranges().into_iter().filter(|range| range.executable).map(|it| it.range);
    let chunks = census.areas().iter().map(|area| area.chunk);
    let chunks = chunks.map(|chunk| AddrRange::new(chunk.base, chunk.area.end.max(chunk.base)));
    let unused = stacks.chunk_by(|(a, _), (b, _)| a.end == b.end).filter_map(|same| {
        let (lowest, _) = same.first()?;
        Some(AddrRange::new(host.range_at(lowest.start)?.range.start, lowest.start))
    });
    let left_out = apart(code.chain(chunks).chain(unused).collect());
    let regions = host.regions().into_iter().filter(|region| region.origin == Origin::Core);
    regions.flat_map(|region| without(region.range, &left_out)).collect()
}

/// Ranges in order, each byte once.
fn apart(mut ranges: Vec<AddrRange>) -> Vec<AddrRange> {
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| {
        let overlaps = next.start <= last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    ranges
}

/// Whether one of some ranges, which are in order and apart, holds an address.
fn holds(ranges: &[AddrRange], at: Addr) -> bool {
    let after = ranges.partition_point(|range| range.end <= at);
    ranges.get(after).is_some_and(|range| range.contains(at))
}

/// A range without others, which are in order and apart.
fn without(range: AddrRange, others: &[AddrRange]) -> Vec<AddrRange> {
    let mut parts = Vec::new();
    let mut at = range.start;
    let first = others.partition_point(|other| other.end <= range.start);
    let others = others.get(first..).unwrap_or_default().iter();
    for other in others.take_while(|other| other.start < range.end) {
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
    let first = Addr::new(range.start.saturating_add(7).get() & !7);
    std::iter::successors(piece(first), move |last| piece(last.end))
}

/// The words of a piece of memory that refer to objects, and the numbers of those.
fn words(heap: &Heap<'_>, census: &Census, piece: AddrRange) -> Vec<(Addr, u32)> {
    let mut found = Vec::new();
    let mut at = piece.start;
    while at < piece.end {
        // Memory of zeros, such as a core of gdb's has, holds nothing.
        let data = heap.space.first_data(AddrRange::new(at, piece.end));
        let Some(data) = data.filter(|data| data.end > at) else { return found };
        at = at.max(Addr::new(data.start.get() & !7));
        let Ok(bytes) = heap.space.slice(at) else { return found };
        let end = data.end.saturating_add(7).min(piece.end);
        let wanted = end.offset_from(at).and_then(|len| usize::try_from(len).ok());
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
