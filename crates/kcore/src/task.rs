//! Stacks that belong to no thread.

use std::sync::Arc;

use kcore_runtimes::{Runtimes, TaskStart};
use kcore_unwind::{End, Frame, Trust};
use rustc_hash::FxHashMap;

use crate::{
    Core, Stack, Task, Tid, found_contexts::FOUND, moved_stack::MovedStack, own_stack::OwnStack,
    stack::StackOrigin, stack_owners::StackOwners,
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

impl Core {
    /// The runtimes that keep stacks of their own and nothing else. They are looked for once, when somebody
    /// first asks for stacks that belong to no thread: that costs a search through the names of modules.
    pub fn task_runtimes(&self) -> &Runtimes {
        self.task_runtimes.get_or_build(self.budget(), || {
            let probes = self.probes.tasks.iter().map(|task| &task.probe);
            Runtimes::find(probes, self)
        })
    }

    /// The tasks of all runtimes, in their order. They are enumerated once.
    pub fn tasks(&self) -> &[Arc<Task>] {
        &self.known_tasks().all
    }

    fn known_tasks(&self) -> &Tasks {
        self.tasks.get_or_build(self.budget(), || {
            let mut tasks = self.runtimes().tasks(self);
            tasks.extend(self.task_runtimes().tasks(self));
            Tasks::new(tasks)
        })
    }

    /// The task of an id, or what was found in its place by a search.
    pub fn task(&self, id: TaskId) -> Option<&Arc<Task>> {
        if id.runtime == FOUND {
            let found = self.found_contexts()?.iter();
            return found.map(|context| &context.task).find(|task| task.id == id.number);
        }
        let tasks = self.known_tasks();
        tasks.all.get(*tasks.by_id.get(&id)?)
    }

    /// The task of a number, whatever its runtime is.
    pub fn task_numbered(&self, number: u64) -> Option<&Arc<Task>> {
        self.tasks().iter().find(|task| task.id == number)
    }

    /// The task that a thread runs.
    pub fn task_of_thread(&self, tid: Tid) -> Option<&Arc<Task>> {
        let tasks = self.known_tasks();
        tasks.all.get(*tasks.by_thread.get(&tid)?)
    }

    /// The task that a thread runs, by its stack. Where tasks were not asked for yet, they are looked for
    /// if the stack begins as one of theirs.
    pub fn task_on(&self, stack: &Stack) -> Option<&Arc<Task>> {
        let tid = stack.tid?;
        let is_known = self.tasks.get().is_some() || self.runtimes().keep_stacks();
        let outermost = stack.frames.iter().rev().take(OUTERMOST);
        let mut names = outermost.filter_map(|frame| self.symbol_at(frame.pc.lookup()));
        let begins_as_one = is_known || names.any(|symbol| self.begins_task(&symbol.name));
        begins_as_one.then(|| self.task_of_thread(tid))?
    }

    /// Whether a function of this name begins the stack of a task.
    fn begins_task(&self, function: &str) -> bool {
        self.probes.tasks.iter().any(|task| (task.begins_task)(function))
    }

    /// The stack of a task, at most `limit` frames. That of one which runs is its thread's.
    pub fn task_stack(&self, task: &Arc<Task>, limit: usize) -> Stack {
        match self.walker() {
            Some(mut walker) => self.task_stack_with(&mut walker, task, limit),
            None => Stack::empty(task.thread, End::Unsupported),
        }
    }

    /// As [`Core::task_stack`], by a walker that may have walked others.
    pub fn task_stack_with(
        &self,
        walker: &mut crate::Walker<'_>,
        task: &Arc<Task>,
        limit: usize,
    ) -> Stack {
        self.task_stack_among(walker, task, limit, &self.stack_owners)
    }

    /// As [`Core::task_stack_with`], among others whose places are known.
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
                let (regs, pc) = (**regs, *pc);
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
