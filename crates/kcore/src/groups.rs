//! Unique stacks over all threads and tasks.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_parallel::prelude::*;
use kcore_runtimes::{Span, TaskStart};
use kcore_unwind::{End, Walker};
use rustc_hash::FxHashMap;

use crate::{Core, Stack, StackView, Task, Tid, stack_owners::StackOwners};

/// Stacks that one walker takes in a row, so that what it learnt pays.
const CHUNK: usize = 16;
/// Stacks of tasks that are held at a time: there may be a hundred thousand.
const BATCH: usize = 1 << 12;

/// Threads and tasks that have the same stack, took the same signals on it, and wait in the same system call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StackGroup {
    /// The threads, in the order of the core: the crashed one first.
    pub tids: Vec<Tid>,
    /// The tasks that no thread runs, in the order of their runtimes.
    pub tasks: Vec<Arc<Task>>,
    /// The system call that the threads wait in.
    pub waits_in: Option<String>,
    /// The stack of the first thread, or else of the first task; the others have the same pcs, the same
    /// signals and the same frames of languages.
    pub stack: Stack,
}

impl StackGroup {
    /// How many threads and tasks there are.
    pub fn count(&self) -> usize {
        self.tids.len().saturating_add(self.tasks.len())
    }

    /// The first thread; `None` in a group of tasks alone.
    pub fn first(&self) -> Option<Tid> {
        self.tids.first().copied()
    }
}

/// Who has a stack.
enum Holder {
    Thread(Tid),
    Task(Arc<Task>),
}

/// What threads of one group have in common. Interpreters run all functions by the same code, so pcs
/// alone do not tell.
#[derive(PartialEq, Eq, Hash)]
struct Likeness {
    waits_in: Option<String>,
    pcs: Vec<Addr>,
    /// The numbers of the signals that handlers on it were called for, as far as they are known.
    signals: Vec<Option<u16>>,
    /// Why there are no more.
    end: &'static str,
    spans: Vec<Span>,
}

/// Groups that grow.
#[derive(Default)]
struct Groups {
    all: Vec<StackGroup>,
    known: FxHashMap<Likeness, usize>,
}

impl Groups {
    fn add(&mut self, core: &Core, holders: impl Iterator<Item = Holder>, stacks: Vec<Stack>) {
        for (holder, stack) in holders.zip(stacks) {
            let likeness = core.likeness(&holder, &stack);
            let waits_in = likeness.waits_in.clone();
            let index = *self.known.entry(likeness).or_insert(self.all.len());
            if self.all.get(index).is_none() {
                self.all.push(StackGroup { tids: vec![], tasks: vec![], waits_in, stack });
            }
            match (self.all.get_mut(index), holder) {
                (Some(group), Holder::Thread(tid)) => group.tids.push(tid),
                (Some(group), Holder::Task(task)) => group.tasks.push(task),
                (None, _) => {}
            }
        }
    }
}

impl StackView<'_> {
    /// The stacks of `tids`, at most `limit` frames each, walked in parallel, in the order of
    /// `tids`.
    pub fn of_threads(self, tids: &[Tid], limit: usize) -> Vec<Stack> {
        let walk = |walker: &mut Walker<'_>, tid: &Tid, owners: &StackOwners| {
            self.core.stack_among(walker, *tid, limit, owners)
        };
        self.core.walk_all(tids, &walk, &|tid| Stack::empty(Some(*tid), End::Unsupported))
    }

    /// The stacks of `tasks`, at most `limit` frames each, walked in parallel, in their order.
    pub fn of_tasks(self, tasks: &[Arc<Task>], limit: usize) -> Vec<Stack> {
        let walk = |walker: &mut Walker<'_>, task: &Arc<Task>, owners: &StackOwners| {
            self.core.task_stack_among(walker, task, limit, owners)
        };
        self.core.walk_all(tasks, &walk, &|task| self.of_task(task, limit))
    }

    /// Groups the threads `tids` by stack and by the system call that they wait in, and with them `tasks`,
    /// those that run left out: they are on the stacks of threads. Most common first; groups of one size
    /// in the order of their first thread.
    pub fn groups(self, tids: &[Tid], tasks: &[Arc<Task>], limit: usize) -> Vec<StackGroup> {
        let mut groups = Groups::default();
        let holders = tids.iter().map(|tid| Holder::Thread(*tid));
        groups.add(self.core, holders, self.of_threads(tids, limit));
        let waiting = tasks.iter().filter(|task| !matches!(task.start, TaskStart::Running));
        let waiting: Vec<Arc<Task>> = waiting.cloned().collect();
        for batch in waiting.chunks(BATCH) {
            let holders = batch.iter().cloned().map(Holder::Task);
            let stacks = self.of_tasks(batch, limit);
            stacks
                .par_iter()
                .with_min_len(CHUNK)
                .for_each(|stack| drop(self.core.decoded(stack).clone()));
            groups.add(self.core, holders, stacks);
        }
        groups.all.sort_by_key(|group| std::cmp::Reverse(group.count()));
        groups.all
    }
}

impl Core {
    /// Walks the stacks of `all` in parallel. Where many of them go on as one, it depends on their order which is
    /// cut: then one after the other.
    fn walk_all<T: Sync>(
        &self,
        all: &[T],
        walk: &(dyn Fn(&mut Walker<'_>, &T, &StackOwners) -> Stack + Sync),
        unsupported: &(dyn Fn(&T) -> Stack + Sync),
    ) -> Vec<Stack> {
        if all.len() > CHUNK {
            let owners = StackOwners::default();
            let one = |walker: &mut Option<Walker<'_>>, of: &T| match walker {
                Some(walker) => walk(walker, of, &owners),
                None => unsupported(of),
            };
            let all = all.par_iter().with_min_len(CHUNK);
            let stacks = all.map_init(|| self.stacks().walker(), one).collect();
            if !owners.have_cut() {
                return stacks;
            }
        }
        let (mut walker, owners) = (self.stacks().walker(), StackOwners::default());
        let one = |of| match &mut walker {
            Some(walker) => walk(walker, of, &owners),
            None => unsupported(of),
        };
        all.iter().map(one).collect()
    }

    /// What runtimes say of a stack, as far as stacks of different threads can have it in common.
    fn alike(&self, stack: &Stack) -> Vec<Span> {
        let mut spans = self.decoded(stack).to_vec();
        for frame in spans.iter_mut().flat_map(|span| &mut span.language) {
            frame.object = None;
        }
        spans
    }

    fn likeness(&self, holder: &Holder, stack: &Stack) -> Likeness {
        let waits_in = match holder {
            Holder::Thread(tid) => self.waits_in(*tid),
            Holder::Task(_) => None,
        };
        let pcs = stack.frames.iter().map(|frame| frame.pc.addr()).collect();
        let trampolines = stack.frames.iter().filter(|frame| frame.signal_trampoline);
        let signals =
            trampolines.map(|frame| Some(self.crash().taken_signal(frame)?.number)).collect();
        Likeness { waits_in, pcs, signals, end: stack.end.as_str(), spans: self.alike(stack) }
    }
}
