//! Stacks that belong to no thread.

use std::sync::Arc;

use kcore_runtimes::TaskStart;
use kcore_unwind::{End, Trust};

use crate::{Core, Stack, Task, stack::StackOrigin};

impl Core {
    /// The tasks of all runtimes, in their order.
    pub fn tasks(&self) -> Vec<Arc<Task>> {
        self.runtimes().tasks(self).into_iter().map(Arc::new).collect()
    }

    /// The stack of a task, at most `limit` frames. That of one which runs is its thread's.
    pub fn task_stack(&self, task: &Arc<Task>, limit: usize) -> Stack {
        let mut stack = match (&task.start, task.thread) {
            (TaskStart::Running, Some(tid)) => self.stack(tid, limit),
            (TaskStart::Suspended { regs, pc }, thread) => match self.walker() {
                Some(mut walker) => {
                    let (regs, pc) = (**regs, *pc);
                    let start = StackOrigin { regs, pc, trust: Trust::Runtime, is_thread: false };
                    Stack::walk(thread, &mut walker, start, limit)
                }
                None => Stack::empty(thread, End::Unsupported),
            },
            (_, thread) => Stack::empty(thread, End::NoRegisters),
        };
        stack.task = Some(task.clone());
        stack
    }
}
