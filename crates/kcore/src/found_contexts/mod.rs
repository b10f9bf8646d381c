//! Saved contexts that no list names: they are found by what they look like, or by the code of the functions that
//! save them, and believed when a stack unwinds from them by call frame information alone to where stacks begin.

mod beside;
mod busy;
mod code_words;
mod made;
mod scan;
mod shape;
mod walked;

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_parallel::prelude::*;
use kcore_runtimes::TaskStart;
use kcore_unwind::{Modules, Trust};
use rustc_hash::{FxHashMap, FxHashSet};

use beside::Beside;
use busy::Busy;
pub use shape::ContextShape;
use shape::{Shaped, Shapes};
use walked::{Code, Frames, Returns, Walked, believe, complete, one_of_each_stack};

use crate::{Core, Stack, Task, stack::StackOrigin};

/// What tasks are said to be of that were found so.
pub const FOUND: &str = "context";
/// Contexts that are kept, and places that are looked at, at most.
const MAX_FOUND: usize = 1 << 20;
/// Frames of a stack that are looked at, and of all stacks together.
const MAX_WALK: usize = 4096;
const MAX_STEPS: usize = 1 << 25;

/// A saved context that was found by a search.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundContext {
    /// Where it lies.
    pub at: Addr,
    /// Its kind.
    pub shape: ContextShape,
    /// Where a pointer to it lies; `None` for one that is known by itself.
    pub held_at: Option<Addr>,
    /// The pc, and what kind it is.
    pub pc: CodeAddr,
    /// The pc of the outermost function that another one called, or the first function of one that has not run.
    pub entry: Addr,
    /// How many frames its stack has; 0 of one that has not run.
    pub frames: usize,
    /// What walks its stack.
    pub task: Arc<Task>,
}

/// Pointers to one context that are looked at.
const MAX_HOLDERS: usize = 64;

impl Core {
    /// Saved contexts in memory, in the order of their addresses. They are searched for once. `None` on a
    /// machine whose contexts are not known.
    pub(crate) fn found_contexts(&self) -> Option<&[FoundContext]> {
        if !Shapes::know(self.arch()) {
            return None;
        }
        Some(self.found_contexts.get_or_build(self.budget(), || self.find_contexts()))
    }

    fn find_contexts(&self) -> Vec<FoundContext> {
        let Some(machine) = self.machine() else { return Vec::new() };
        let is_code = |at: Addr| Modules::is_code(self.modules(), at);
        let shapes = Shapes { space: self.space(), machine, is_code: &is_code };
        let memory = self.written_memory();
        let begins = self.each_word(&memory, |at, word| shapes.begin(at, word));
        let begins = begins.into_iter().take(MAX_FOUND);
        let mut shaped: Vec<Shaped> =
            begins.filter_map(|(at, shape)| shapes.read(at, shape)).collect();
        shaped.extend(Beside::new(self, machine).find(&memory).into_iter().take(MAX_FOUND));
        let mut walked = self.walk_contexts(shaped);
        complete(&mut walked, &|at| {
            let function = Modules::function_before(self.modules(), at)?;
            function.contains(at).then_some(function.start)
        });
        self.believed(walked, &memory)
    }

    /// Those whose stacks unwind to where stacks begin.
    fn walk_contexts(&self, shaped: Vec<Shaped>) -> Vec<Walked> {
        let steps = AtomicUsize::new(0);
        let walk = |walker: &mut Option<kcore_unwind::Walker<'_>>, shaped: Shaped| {
            if shaped.begins_with.is_some() {
                return Some(Walked::made(shaped));
            }
            let (regs, pc) = (shaped.regs, shaped.pc);
            let start = StackOrigin { regs, pc, trust: Trust::Runtime, is_thread: false };
            let limit = MAX_WALK.min(MAX_STEPS.saturating_sub(steps.load(Relaxed)));
            let stack = Stack::walk(None, walker.as_mut()?, start, limit);
            steps.fetch_add(stack.frames.len(), Relaxed);
            believe(shaped, stack, self)
        };
        shaped.into_par_iter().map_init(|| self.stacks().walker(), walk).flatten_iter().collect()
    }

    /// Those that are not known otherwise, that no thread has gone on from, and, where they lie on their own
    /// stacks, that somebody points to who does not: what was left there once is there for long.
    fn believed(&self, walked: Vec<Walked>, memory: &[AddrRange]) -> Vec<FoundContext> {
        let busy = Busy::of(self);
        let saved = self.tasks().all().iter().filter_map(|task| saved_sp(self, task));
        let known: FxHashSet<u64> = saved.collect();
        let holders = self.holders(&walked, memory);
        let is_free = |it: &Walked| {
            !busy.has(it) && !it.stack_pointer().is_some_and(|sp| known.contains(&sp))
        };
        let held_at = |it: &Walked| {
            let holders = holders.get(&it.shaped.at).map(Vec::as_slice).unwrap_or_default();
            holders.iter().copied().find(|holder| !it.is_on_stack(*holder))
        };
        let is_held = |it: &Walked| !it.lies_on_stack() || held_at(it).is_some();
        let left = walked.into_iter().filter(|it| is_free(it) && is_held(it)).collect();
        let found = one_of_each_stack(left).into_iter().map(|it| {
            let held_at = held_at(&it);
            found_context(it, held_at)
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
}

impl Code for Core {
    fn returns(&self, at: Addr) -> Returns {
        let is_call = self.machine().is_some_and(|it| it.follows_call(at, self.space()));
        match self.space().slice(at.wrapping_offset(-1)) {
            Ok(_) if is_call => Returns::Yes,
            Ok(_) => Returns::No,
            Err(_) => Returns::Unknown,
        }
    }

    /// By the return address that machines push.
    fn begins_at(&self, cfa: Addr) -> bool {
        let pushed = cfa.wrapping_offset(-(self.space().target().register_size() as i64));
        let to = self.space().read_addr(pushed).ok();
        to.is_some_and(|to| Modules::is_code(self.modules(), to) && self.returns(to) == Returns::No)
    }
}

fn saved_sp(core: &Core, task: &Task) -> Option<u64> {
    match &task.start {
        TaskStart::Suspended { regs, .. } => regs.get(core.machine()?.stack_pointer()),
        _ => None,
    }
}

/// Where the outermost function is that was called as functions are: what a library put behind it, for it to
/// return to, is the same for all stacks.
fn entry_of(frames: Frames) -> Option<Addr> {
    let outermost = frames.outermost?;
    let called = if outermost.pc.is_return() { None } else { frames.inner };
    Some(called.unwrap_or(outermost).pc.lookup())
}

fn found_context(walked: Walked, held_at: Option<Addr>) -> FoundContext {
    let bottom = walked.bottom().filter(|_| walked.is_whole && !walked.ends_itself);
    let Walked { shaped, frames, .. } = walked;
    let start = match shaped.begins_with {
        Some(_) => TaskStart::Unknown("it has not run yet".into()),
        None => TaskStart::Suspended { regs: (&shaped.regs).into(), pc: shaped.pc, bottom },
    };
    let entry = shaped.begins_with.or_else(|| entry_of(frames)).unwrap_or(shaped.pc.addr());
    let task = Task {
        runtime: FOUND,
        id: shaped.at.get(),
        name: None,
        state: Cow::Borrowed(if shaped.begins_with.is_some() { "created" } else { "found" }),
        waits_on: None,
        until: None,
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
        frames: frames.count,
        task: Arc::new(task),
    }
}
