//! Frames of coroutines in memory.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, AddressSpace};
use rustc_hash::FxHashMap;

use super::functions::{Compiler, CoroutineFunction};
use crate::{Host, graph::native_words::referring};

/// Frames of a process, at most.
const MAX_FRAMES: usize = 1 << 22;
/// Where the second word of a frame lies, the function that destroys it.
const DESTROY: u64 = 8;

/// A frame that has the functions of a coroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoroutineFrame {
    /// Where it lies.
    pub at: Addr,
    /// The index of its function.
    pub function: usize,
    /// Whether it has nothing left to do: it is at its final point of suspension.
    pub is_done: bool,
    /// Whether it lies in the stack of a thread.
    pub is_on_stack: bool,
}

/// The functions of coroutines, by the words that frames have.
pub struct FrameWords {
    by_destroy: FxHashMap<u64, Vec<usize>>,
    /// From the lowest to the highest of those words.
    span: AddrRange,
}

impl FrameWords {
    /// Those of these functions.
    pub fn new(functions: &[CoroutineFunction]) -> Self {
        let mut by_destroy: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        for (index, function) in functions.iter().enumerate() {
            for destroy in &function.destroy {
                by_destroy.entry(destroy.get()).or_default().push(index);
            }
        }
        let lowest = by_destroy.keys().min().copied().unwrap_or_default();
        let highest = by_destroy.keys().max().copied().unwrap_or_default();
        let span = AddrRange::new(Addr::new(lowest), Addr::new(highest.saturating_add(1)));
        Self { by_destroy, span }
    }

    fn is_one(&self, word: u64) -> Option<Addr> {
        let at = Addr::new(word);
        (self.span.contains(at) && self.by_destroy.contains_key(&word)).then_some(at)
    }

    /// The frame at a place, if there is one. Of one that is done, nothing but its destroyer tells of which function it is:
    /// it is none if several share that.
    pub fn load(
        &self,
        space: &dyn AddressSpace,
        functions: &[CoroutineFunction],
        at: Addr,
    ) -> Option<CoroutineFrame> {
        let resume = space.read_word(at).ok()?;
        let destroy = space.read_word(at.checked_add(DESTROY)?).ok()?;
        let candidates = self.by_destroy.get(&destroy)?;
        let is_done = resume == 0;
        let of = |index: &&usize| {
            functions.get(**index).is_some_and(|it| it.resume.start == Addr::new(resume))
        };
        let function = match (is_done, candidates.as_slice()) {
            (true, [only]) => Some(*only),
            (true, _) => None,
            (false, all) => all.iter().find(of).copied(),
        }?;
        Some(CoroutineFrame { at, function, is_done, is_on_stack: false })
    }
}

/// All frames in memory that may be written, lowest address first, without those that were given back as far as the
/// allocator or a stack pointer tells.
pub fn frames(
    host: &dyn Host,
    words: &FrameWords,
    functions: &[CoroutineFunction],
) -> Vec<CoroutineFrame> {
    let is_one = |word: u64| words.is_one(word);
    let watch = &mut |_, _| ControlFlow::Continue(());
    let found = referring(host.space(), &memory(host), MAX_FRAMES, &is_one, watch);
    let places = found.unwrap_or_default().into_iter();
    let places = places.filter_map(|(word, _)| word.get().checked_sub(DESTROY).map(Addr::new));
    let mut frames: Vec<CoroutineFrame> =
        places.filter_map(|at| words.load(host.space(), functions, at)).collect();
    frames.retain_mut(|frame| is_live(host, functions, frame));
    frames.sort_by_key(|frame| frame.at);
    frames
}

/// Whether memory has not been given back, as far as anything tells. clang alone keeps frames in those of their callers;
/// elsewhere two words of a stack may be copies of a frame's, or a null and a function's address.
fn is_live(host: &dyn Host, functions: &[CoroutineFunction], frame: &mut CoroutineFrame) -> bool {
    if let Some(is_used) = host.is_used_block(frame.at) {
        return is_used;
    }
    let Some(thread) = host.thread_of_stack(frame.at) else { return true };
    frame.is_on_stack = true;
    let compiler = functions.get(frame.function).map(|function| function.compiler);
    compiler == Some(Compiler::Clang)
        && !frame.is_done
        && host.stack_pointer(thread).is_none_or(|sp| sp <= frame.at)
}

/// The memory in which frames may lie.
pub fn memory(host: &dyn Host) -> Vec<AddrRange> {
    let memory = host.ranges().into_iter().filter(|it| it.readable && !it.executable);
    memory.filter(|it| !it.is_file).map(|it| it.range).collect()
}
