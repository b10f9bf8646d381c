//! What keeps objects from outside of the heap.
//!
//! Certain roots are words of stacks, of registers and of the data of isolates, and the contexts of global objects to
//! which words outside of the heap refer. A handle of the embedder cannot be told from what is left of one in freed memory.
//! So words of any other memory that refer to objects are guessed roots, and so are contexts to which no word refers. They
//! count only if nothing certain keeps the object.

use std::collections::{BTreeSet, HashSet};

use kcore_mem::{Addr, AddrRange, Origin};
use kcore_unwind::Tid;

use super::super::{Census, around_heap};
use crate::{
    Host,
    graph::{
        Root, RootKind,
        native_words::{self, apart},
    },
    objects::{Stopped, Watch},
    v8::{Heap, census::shape::native_context},
};

/// Isolates, at most.
const MAX_ISOLATES: usize = 1 << 10;
/// Roots that are remembered, at most.
const MAX_ROOTS: usize = 1 << 23;

/// The context of a global object.
pub const CONTEXT: RootKind = RootKind::certain("context", "the context of a global object");
/// One that nothing outside of the heap was seen to refer to.
pub const LONE_CONTEXT: RootKind =
    RootKind::guessed("lone_context", "the context of a global object, which may be garbage");
/// A register of a thread.
pub const REGISTER: RootKind = RootKind::certain("register", "a register");
/// A word of the stack of a thread.
pub const STACK: RootKind = RootKind::certain("stack", "the stack");
/// The data of an isolate.
pub const ISOLATE: RootKind = RootKind::certain("isolate", "the data of the isolate");
/// A word of other memory: a handle, or what is left of one.
pub const GUESSED: RootKind = RootKind::guessed("guessed", "a word that may be a handle");

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
    let stacks = native_words::stacks(host);
    let is_object = |word| target(census, word);
    let mut certain = native_words::registers(host, &is_object, &REGISTER);
    let mut guessed = Vec::new();
    let isolates = apart(isolates(heap, census));
    let memory = memory(host, census, &stacks);
    for (at, to) in native_words::referring(heap.space, &memory, MAX_ROOTS, &is_object, watch)? {
        let thread = native_words::thread_of(&stacks, at);
        let kind = match thread {
            Some(_) => &STACK,
            None if holds(&isolates, at) => &ISOLATE,
            None => &GUESSED,
        };
        let roots = if kind.is_certain { &mut certain } else { &mut guessed };
        roots.push(Root { thread, at: Some(at), ..Root::new(kind, to) });
    }
    let referred: HashSet<Addr> = certain.iter().chain(&guessed).map(|root| root.to).collect();
    let (kept, lone): (Vec<Addr>, Vec<Addr>) =
        contexts(heap, census, watch)?.into_iter().partition(|at| referred.contains(at));
    certain.splice(0..0, kept.into_iter().map(|at| Root::new(&CONTEXT, at)));
    guessed.extend(lone.into_iter().map(|at| Root::new(&LONE_CONTEXT, at)));
    Ok((certain, guessed))
}

/// The contexts of global objects.
fn contexts(heap: &Heap<'_>, census: &Census, watch: Watch<'_>) -> Result<Vec<Addr>, Stopped> {
    let kind = native_context(heap.layout);
    census.select(heap, |map| map.kind == kind, watch)
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

fn target(census: &Census, word: u64) -> Option<Addr> {
    let at = Addr::new(word & !3);
    (word & 3 == 1 && census.index_of(at).is_some()).then_some(at)
}
