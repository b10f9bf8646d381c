//! Saved contexts that no list names: they are found by what they look like, and believed when a stack unwinds
//! from them by call frame information alone to where stacks begin.

mod scan;
mod shape;

use std::{borrow::Cow, sync::Arc};

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_runtimes::TaskStart;
use kcore_unwind::{End, Frame, Modules, Trust};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

pub use shape::ContextShape;
use shape::{Shaped, Shapes};

use crate::{Core, MAX_FRAMES, Stack, Task, stack::StackOrigin};

/// What tasks are said to be of that were found so.
pub const FOUND: &str = "context";
/// Contexts that are kept, and places that are looked at, at most.
const MAX_FOUND: usize = 1 << 20;
/// Frames of a stack that are looked at.
const MAX_WALK: usize = 4096;

/// A saved context that was found by a search.
#[derive(Clone, Debug)]
pub struct FoundContext {
    /// Where it lies.
    pub at: Addr,
    /// Its kind.
    pub shape: ContextShape,
    /// Where a pointer to it lies; `None` for one that is known by itself.
    pub held_at: Option<Addr>,
    /// The pc, and what kind it is.
    pub pc: CodeAddr,
    /// The outermost function's pc, or the first function of one that has not run.
    pub entry: Addr,
    /// How many frames its stack has; 0 of one that has not run.
    pub frames: usize,
    /// What walks its stack.
    pub task: Arc<Task>,
}

/// Pointers to one context that are looked at.
const MAX_HOLDERS: usize = 64;
/// Bytes below a context that may be left of calls which returned.
const LEFT_OVER: u64 = 16 << 10;

/// A context whose stack is good.
struct Walked {
    shaped: Shaped,
    frames: Vec<Frame>,
}

impl Walked {
    /// Where the stack begins.
    fn bottom(&self) -> Option<Addr> {
        match self.frames.last() {
            Some(outermost) => outermost.cfa,
            None => self.shaped.regs.get(self.shaped.stack_pointer).map(Addr::new),
        }
    }

    /// Whether an address is on the stack, or where calls from it were.
    fn is_on_stack(&self, at: Addr) -> bool {
        let lowest = self.shaped.at.get().saturating_sub(LEFT_OVER);
        self.bottom().is_some_and(|bottom| at.get() >= lowest && at < bottom)
    }
}

impl Core {
    /// Saved contexts in memory, in the order of their addresses. They are searched for once. `None` on a
    /// machine whose contexts are not known.
    pub fn found_contexts(&self) -> Option<&[FoundContext]> {
        if !Shapes::know(self.arch()) {
            return None;
        }
        Some(self.found_contexts.get_or_init(|| self.find_contexts()))
    }

    fn find_contexts(&self) -> Vec<FoundContext> {
        let Some(machine) = self.machine() else { return Vec::new() };
        let is_code = |at: Addr| Modules::is_code(self.modules(), at);
        let shapes = Shapes { space: self.space(), machine, is_code: &is_code };
        let memory = self.written_memory();
        let begins = self.each_word(&memory, |at, word| shapes.begin(at, word));
        let begins = begins.into_iter().take(MAX_FOUND);
        let shaped = begins.filter_map(|(at, shape)| shapes.read(at, shape));
        let walked = self.walk_contexts(shaped.collect());
        self.believed(walked, &memory)
    }

    /// Those whose stacks unwind to where stacks begin.
    fn walk_contexts(&self, shaped: Vec<Shaped>) -> Vec<Walked> {
        let walk = |walker: &mut Option<kcore_unwind::Walker<'_>>, shaped: Shaped| {
            if shaped.begins_with.is_some() {
                return Some(Walked { shaped, frames: Vec::new() });
            }
            let (regs, pc) = (shaped.regs, shaped.pc);
            let start = StackOrigin { regs, pc, trust: Trust::Runtime, is_thread: false };
            let stack = Stack::walk(None, walker.as_mut()?, start, MAX_WALK);
            is_clean(&stack).then_some(Walked { shaped, frames: stack.frames })
        };
        shaped.into_par_iter().map_init(|| self.walker(), walk).flatten_iter().collect()
    }

    /// Those that are not known otherwise, that no thread has gone on from, and, where the library gives
    /// pointers to them, that somebody points to who is not on the same stack: what was left there once is
    /// there for long.
    fn believed(&self, walked: Vec<Walked>, memory: &[AddrRange]) -> Vec<FoundContext> {
        let busy = self.bottoms_of_threads();
        let saved = self.tasks().iter().filter_map(|task| saved_sp(self, task));
        let known: FxHashSet<u64> = saved.collect();
        let holders = self.holders(&walked, memory);
        let sp = |shaped: &Shaped| shaped.regs.get(self.machine()?.stack_pointer());
        let is_free = |it: &Walked| {
            !it.bottom().is_some_and(|bottom| busy.contains(&bottom))
                && !sp(&it.shaped).is_some_and(|sp| known.contains(&sp))
        };
        let found = walked.into_iter().filter(is_free).filter_map(|it| {
            let holders = holders.get(&it.shaped.at).map(Vec::as_slice).unwrap_or_default();
            let held_at = holders.iter().copied().find(|holder| !it.is_on_stack(*holder));
            let needs_holder = it.shaped.shape == ContextShape::Fcontext;
            (held_at.is_some() || !needs_holder).then(|| found_context(it, held_at))
        });
        let mut found: Vec<FoundContext> = found.collect();
        found.sort_by_key(|context| context.at);
        found.dedup_by_key(|context| context.at);
        found
    }

    /// Where pointers to contexts lie, so many of each.
    fn holders(&self, walked: &[Walked], memory: &[AddrRange]) -> FxHashMap<Addr, Vec<Addr>> {
        let wanted: FxHashSet<u64> = walked.iter().map(|it| it.shaped.at.get()).collect();
        let pointers =
            self.each_word(memory, |at, word| wanted.contains(&word).then_some((word, at)));
        let mut holders: FxHashMap<Addr, Vec<Addr>> = FxHashMap::default();
        for (context, at) in pointers {
            let of_one = holders.entry(Addr::new(context)).or_default();
            if of_one.len() < MAX_HOLDERS {
                of_one.push(at);
            }
        }
        holders
    }

    /// Where the stacks of threads begin.
    fn bottoms_of_threads(&self) -> FxHashSet<Addr> {
        let stacks = self.stacks(&self.tids(), MAX_FRAMES);
        stacks.iter().filter_map(|stack| stack.frames.last()?.cfa).collect()
    }
}

/// Whether a stack is good down to its beginning: nothing of it was guessed.
fn is_clean(stack: &Stack) -> bool {
    let is_sure = |frame: &Frame| matches!(frame.trust, Trust::Cfi | Trust::Runtime);
    stack.end == End::Outermost && stack.frames.len() > 1 && stack.frames.iter().all(is_sure)
}

fn saved_sp(core: &Core, task: &Task) -> Option<u64> {
    match &task.start {
        TaskStart::Suspended { regs, .. } => regs.get(core.machine()?.stack_pointer()),
        _ => None,
    }
}

fn found_context(walked: Walked, held_at: Option<Addr>) -> FoundContext {
    let Walked { shaped, frames } = walked;
    let start = match shaped.begins_with {
        Some(_) => TaskStart::Unknown("it has not run yet".into()),
        None => TaskStart::Suspended { regs: Box::new(shaped.regs), pc: shaped.pc },
    };
    let outermost = frames.last().map(|frame| frame.pc.lookup());
    let entry = shaped.begins_with.or(outermost).unwrap_or(shaped.pc.addr());
    let task = Task {
        runtime: FOUND,
        id: shaped.at.get(),
        name: None,
        state: Cow::Borrowed(if shaped.begins_with.is_some() { "created" } else { "found" }),
        waits_on: None,
        entry: Some(entry),
        thread: None,
        stack: shaped.stack,
        start,
    };
    FoundContext {
        at: shaped.at,
        shape: shaped.shape,
        held_at,
        pc: shaped.pc,
        entry,
        frames: frames.len(),
        task: Arc::new(task),
    }
}
