//! Which native activations of the evaluation loop run which frames, and which thread runs a thread state.
//!
//! One native activation of the loop, `_PyEval_EvalFrameDefault`, runs a group of frames. Since 3.10 something of each
//! group lies in the stack frame of its activation, which so is found without a name; for 3.8 and 3.9, where an
//! activation runs one frame, activations are counted. A thread that entered several interpreters has a chain
//! of frames in each: there the activation is the one's whose frame its stack speaks of.

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{Frame, Tid};
use rustc_hash::FxHashMap;

use super::{Chain, Group, Python, State, ThreadState, heap::Heap, layout::Frames};
use crate::Host;

/// The evaluation loop; the compiler may have split it or changed its name: `.cold`, `.lto_priv.0`.
pub const LOOP: &str = "_PyEval_EvalFrameDefault";
/// Frames that are passed on the way to one that lies on the stack of C.
const MAX_PASSED: usize = 1 << 14;
/// Bytes of a stack, or of a part of one, that are searched for a word, at most.
const MAX_STACK: u64 = 16 << 20;

/// Which native frame runs each group of each chain, by its index.
pub type GroupFrames = Vec<Vec<Option<usize>>>;

impl Python {
    /// The places of the groups of the chains of one thread.
    pub(super) fn places(
        &self,
        host: &dyn Host,
        frames: &[Frame],
        chains: &[Chain],
    ) -> GroupFrames {
        let groups = || chains.iter().flat_map(|chain| &chain.groups);
        match groups().any(|group| group.anchor.is_some()) {
            true => {
                let by_sp = by_sp(frames);
                let of = |chain: &Chain| {
                    chain.groups.iter().map(|group| anchored(frames, &by_sp, group)).collect()
                };
                chains.iter().map(of).collect()
            }
            false => self.counted(host, frames, chains),
        }
    }

    /// The activations of the loop by name, as many as there are groups: where there are more native ones or
    /// fewer, none of their places is certain but the innermost.
    fn counted(&self, host: &dyn Host, frames: &[Frame], chains: &[Chain]) -> GroupFrames {
        let mut places: GroupFrames = chains.iter().map(|_| Vec::new()).collect();
        let mut inner = 0;
        for (place, _) in frames.iter().enumerate().filter(|(_, frame)| self.is_loop(host, frame)) {
            let next = |index: usize| -> Option<&Group> {
                chains.get(index)?.groups.get(places.get(index)?.len())
            };
            let left: Vec<usize> =
                (0..chains.len()).filter(|index| next(*index).is_some()).collect();
            let speaks = |index: &&usize| {
                let frame = next(**index).and_then(|group| group.frames.first());
                frame.is_some_and(|frame| speaks_of(host, frames, inner..place, frame.at))
            };
            let chosen = match left.as_slice() {
                [] | [_] => left.first(),
                several => several.iter().find(speaks).or(several.first()),
            };
            if let Some(places) = chosen.and_then(|chosen| places.get_mut(*chosen)) {
                places.push(Some(place));
            }
            inner = place.saturating_add(1);
        }
        places
    }

    /// Whether a native frame is one of the loop of this CPython: a process may hold several.
    pub(super) fn is_loop(&self, host: &dyn Host, frame: &Frame) -> bool {
        let name = || host.function_at(frame.pc);
        self.module.contains(frame.pc.lookup())
            && name().is_some_and(|name| name.strip_prefix(LOOP).is_some_and(is_clone))
    }

    /// Finds the native threads of thread states that others run than those which made them: what was made for
    /// a new interpreter is used by whoever enters that first, to 3.12.
    pub(super) fn find_runners(&self, host: &dyn Host, state: &mut State) {
        let heap = self.heap(host);
        let mut of_ident: FxHashMap<u64, u64> = FxHashMap::default();
        for thread in &state.threads {
            let count = of_ident.entry(thread.ident).or_default();
            *count = count.saturating_add(1);
        }
        for thread in &mut state.threads {
            let is_shared = of_ident.get(&thread.ident).is_some_and(|count| *count > 1);
            let runner = match heap.layout.minor {
                ..=9 if is_shared => self.searched_runner(host, &heap, thread),
                ..=9 => None,
                _ => self.anchor_of(&heap, thread).and_then(|at| host.thread_of_stack(at)),
            };
            thread.tid = runner.or(thread.tid);
        }
    }

    /// Something of a thread state that lies on the stack of C.
    fn anchor_of(&self, heap: &Heap<'_>, thread: &ThreadState) -> Option<Addr> {
        let offsets = &heap.layout.thread;
        if let Some(cframe) = offsets.cframe {
            let root = offsets.root_cframe.and_then(|root| thread.at.checked_add(root));
            return heap.pointer(thread.at, cframe).filter(|cframe| Some(*cframe) != root);
        }
        (heap.layout.frames == Frames::Shims).then_some(())?;
        let base = offsets.base_frame.and_then(|base| thread.at.checked_add(base));
        let mut next = heap.pointer(thread.at, offsets.frame?);
        for _ in 0..MAX_PASSED {
            let at = next.filter(|at| Some(*at) != base)?;
            if heap.is_shim(at) {
                return Some(at);
            }
            next = heap.pointer(at, heap.layout.frame.previous);
        }
        None
    }

    /// The thread whose stack speaks of the innermost frame.
    fn searched_runner(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        thread: &ThreadState,
    ) -> Option<Tid> {
        let frame = heap.pointer(thread.at, heap.layout.thread.frame?)?;
        let own = thread.tid.into_iter();
        let others = host.threads().into_iter().filter(|tid| Some(*tid) != thread.tid);
        own.chain(others).find(|tid| {
            let used = used_stack(host, *tid);
            used.is_some_and(|used| holds(host, used, frame))
        })
    }
}

/// Whether what follows the loop's name is what a compiler appends.
fn is_clone(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('.')
}

/// Stack pointers with the native frames that have them, the lowest first. Frames of one stack lie one behind the other,
/// innermost lowest, but between them may be some of another stack, as those of goroutines.
fn by_sp(frames: &[Frame]) -> Vec<(Addr, usize)> {
    let all = frames.iter().enumerate();
    let mut all: Vec<(Addr, usize)> = all.filter_map(|(at, it)| Some((it.sp?, at))).collect();
    all.sort_unstable();
    all
}

/// The native frame that holds the anchor of a group.
fn anchored(frames: &[Frame], by_sp: &[(Addr, usize)], group: &Group) -> Option<usize> {
    let anchor = group.anchor?;
    let after = by_sp.partition_point(|(sp, _)| *sp <= anchor);
    let (_, place) = *by_sp.get(after.checked_sub(1)?)?;
    let next = frames.get(place.checked_add(1)?).filter(|next| !next.on_other_stack);
    let end = next.and_then(|next| next.sp).or(frames.get(place)?.cfa)?;
    (anchor < end).then_some(place)
}

/// Whether the stack from one native frame to another, inclusive, holds the address of a frame of Python.
fn speaks_of(host: &dyn Host, frames: &[Frame], range: std::ops::Range<usize>, at: Addr) -> bool {
    let start = frames.get(range.start).and_then(|frame| frame.sp);
    let end = frames.get(range.end).and_then(|frame| frame.cfa);
    let part = start.zip(end).filter(|(start, end)| start < end);
    part.is_some_and(|(start, end)| holds(host, AddrRange::new(start, end), at))
}

/// The part of a thread's stack that is in use.
fn used_stack(host: &dyn Host, tid: Tid) -> Option<AddrRange> {
    let sp = host.stack_pointer(tid)?;
    let end = host.range_at(sp)?.range.end;
    (sp < end).then(|| AddrRange::new(sp, end))
}

fn holds(host: &dyn Host, range: AddrRange, wanted: Addr) -> bool {
    let length = range.end.get().saturating_sub(range.start.get()).min(MAX_STACK);
    let bytes = host.space().read_held(range.start, length);
    bytes.as_chunks::<8>().0.iter().any(|word| u64::from_le_bytes(*word) == wanted.get())
}
