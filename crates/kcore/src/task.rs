//! Stacks that belong to no thread.

use std::sync::Arc;

use kcore_runtimes::{Runtimes, TaskStart};
use kcore_unwind::{End, Frame, Regs, Trust};
use rustc_hash::FxHashMap;

use crate::{
    Core, Stack, StackView, Task, Tid, found_contexts::FOUND, moved_stack::MovedStack,
    own_stack::OwnStack, stack::StackOrigin, stack_owners::StackOwners,
};

/// Frames among which the function is that begins the stack of a task: a sanitizer may call it, or functions of
/// the library's own whose names were stripped.
const OUTERMOST: usize = 3;

/// What names a task within a process: its runtime, and the number that this gave it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TaskId {
    /// The runtime's name, as in [`crate::Identity::name`].
    pub runtime: &'static str,
    /// As [`Task::id`].
    pub number: u64,
}

impl TaskId {
    /// That of a task.
    pub fn of(task: &Task) -> Self {
        Self { runtime: task.runtime, number: task.id }
    }
}

/// The tasks of all runtimes.
#[derive(Default)]
pub(crate) struct Tasks {
    all: Vec<Arc<Task>>,
    by_id: FxHashMap<TaskId, usize>,
    by_thread: FxHashMap<Tid, usize>,
}

impl Tasks {
    fn new(tasks: Vec<Task>) -> Self {
        let all: Vec<Arc<Task>> = tasks.into_iter().map(Arc::new).collect();
        let numbered = || all.iter().enumerate();
        let by_id = numbered().map(|(index, task)| (TaskId::of(task), index)).collect();
        let threads = numbered().filter_map(|(index, task)| Some((task.thread?, index)));
        let by_thread = threads.collect();
        Self { all, by_id, by_thread }
    }
}

/// Questions about tasks: see [`TaskView::all`].
#[derive(Clone, Copy)]
pub struct TaskView<'c> {
    pub(crate) core: &'c Core,
}

impl Core {
    /// Its tasks: stacks that belong to no thread.
    pub const fn tasks(&self) -> TaskView<'_> {
        TaskView { core: self }
    }
}

impl<'c> TaskView<'c> {
    /// The runtimes that keep stacks of their own and nothing else. They are looked for once, when somebody
    /// first asks for stacks that belong to no thread: that costs a search through the names of modules.
    pub fn runtimes(self) -> &'c Runtimes {
        self.core.task_runtimes.get_or_build(self.core.budget(), || {
            let probes = self.core.probes.tasks.iter().map(|task| &task.probe);
            Runtimes::find(probes, self.core)
        })
    }

    /// The tasks of all runtimes, in their order. They are enumerated once.
    pub fn all(self) -> &'c [Arc<Task>] {
        &self.core.known_tasks().all
    }

    /// The task of an id, or what was found in its place by a search.
    pub fn by_id(self, id: TaskId) -> Option<&'c Arc<Task>> {
        if id.runtime == FOUND {
            let found = self.core.found_contexts()?.iter();
            return found.map(|context| &context.task).find(|task| task.id == id.number);
        }
        let tasks = self.core.known_tasks();
        tasks.all.get(*tasks.by_id.get(&id)?)
    }

    /// The task of a number, whatever its runtime is.
    pub fn numbered(self, number: u64) -> Option<&'c Arc<Task>> {
        self.all().iter().find(|task| task.id == number)
    }

    /// The task that a thread runs.
    pub fn of_thread(self, tid: Tid) -> Option<&'c Arc<Task>> {
        let tasks = self.core.known_tasks();
        tasks.all.get(*tasks.by_thread.get(&tid)?)
    }

    /// The task that a thread runs, by its stack. Where tasks were not asked for yet, they are looked for
    /// if the stack begins as one of theirs.
    pub fn on_stack(self, stack: &Stack) -> Option<&'c Arc<Task>> {
        let tid = stack.tid?;
        let is_known = self.core.tasks.get().is_some() || self.core.runtimes().keep_stacks();
        let outermost = stack.frames.iter().rev().take(OUTERMOST);
        let mut names = outermost.filter_map(|frame| self.core.symbols().at(frame.pc.lookup()));
        let begins_as_one = is_known || names.any(|symbol| self.core.begins_task(&symbol.name));
        begins_as_one.then(|| self.of_thread(tid))?
    }
}

impl StackView<'_> {
    /// The stack of a task, at most `limit` frames. That of one which runs is its thread's.
    pub fn of_task(self, task: &Arc<Task>, limit: usize) -> Stack {
        match self.walker() {
            Some(mut walker) => self.of_task_with(&mut walker, task, limit),
            None => Stack::empty(task.thread, End::Unsupported),
        }
    }

    /// As [`StackView::of_task`], by a walker that may have walked others.
    pub fn of_task_with(
        self,
        walker: &mut crate::Walker<'_>,
        task: &Arc<Task>,
        limit: usize,
    ) -> Stack {
        self.core.task_stack_among(walker, task, limit, &self.core.stack_owners)
    }
}

impl Core {
    fn known_tasks(&self) -> &Tasks {
        self.tasks.get_or_build(self.budget(), || {
            let mut tasks = self.runtimes().tasks(self);
            tasks.extend(self.tasks().runtimes().tasks(self));
            Tasks::new(tasks)
        })
    }

    /// Whether a function of this name begins the stack of a task.
    fn begins_task(&self, function: &str) -> bool {
        self.probes.tasks.iter().any(|task| (task.begins_task)(function))
    }

    /// As [`StackView::of_task_with`], among others whose places are known.
    pub(crate) fn task_stack_among(
        &self,
        walker: &mut crate::Walker<'_>,
        task: &Arc<Task>,
        limit: usize,
        owners: &StackOwners,
    ) -> Stack {
        let mut stack = match (&task.start, task.thread) {
            (TaskStart::Running, Some(tid)) => self.stack_among(walker, tid, limit, owners),
            (TaskStart::Suspended { regs, pc, bottom }, thread) => {
                let (regs, pc) = (Regs::from(regs), *pc);
                let start = StackOrigin { regs, pc, trust: Trust::Runtime, is_thread: false };
                let mut own = OwnStack::of_task(self, owners, TaskId::of(task));
                let mut end_at = |frames: &[Frame]| match (bottom, frames.last()?.cfa) {
                    (Some(bottom), Some(cfa)) if *bottom == cfa => Some(End::Outermost),
                    _ => own.end_at(frames),
                };
                let stack = self.charged(limit, |limit| {
                    Stack::walk_until(thread, walker, start, limit, &mut end_at)
                });
                own.end(stack.end);
                stack
            }
            (TaskStart::Moved { sp, frame_pointer, pc, moved, limit: end }, _) => {
                let (sp, frame_pointer, pc) = (*sp, *frame_pointer, *pc);
                let moved = MovedStack { moved: *moved, sp, frame_pointer, pc, limit: *end };
                self.moved_stack(&moved, limit)
            }
            (TaskStart::Language(_) | TaskStart::Kept, thread) => {
                Stack::empty(thread, End::Outermost)
            }
            (_, thread) => Stack::empty(thread, End::NoRegisters),
        };
        stack.task = Some(task.clone());
        stack
    }
}
