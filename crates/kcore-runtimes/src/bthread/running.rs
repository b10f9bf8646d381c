//! Which thread runs what.

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

use super::remained;
use crate::{Host, thread_stack};

/// The function that switches from one stack to another.
const SWITCH: &str = "bthread_jump_fcontext";

/// A thread that is on a stack of somebody's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Runner {
    /// The thread.
    pub thread: Tid,
    /// Whether it was stopped in the midst of a switch: it is on this stack, and is about to leave it or
    /// has just come.
    pub switches: bool,
}

/// A stack of a task's.
#[derive(Clone, Copy, Debug)]
pub struct TaskStack {
    /// From its guard to its end.
    pub range: AddrRange,
    /// The `bthread::TaskMeta` whose it is.
    pub meta: Addr,
}

/// The `bthread::TaskGroup` of a worker.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Where it lies.
    pub at: Addr,
    /// Where its `_cur_meta` lies in it.
    pub current: u64,
}

impl Group {
    fn current(&self, host: &dyn Host) -> Option<Addr> {
        host.space().read_addr(self.at.checked_add(self.current)?).ok()
    }
}

/// Who runs which task, by its `bthread::TaskMeta`.
#[derive(Default)]
pub struct Running {
    on_stack: FxHashMap<Addr, Runner>,
    current: FxHashMap<Addr, Tid>,
    left: FxHashMap<Addr, Tid>,
}

impl Running {
    /// Those of a process. `stacks` lie in the order of their addresses; `group_of` is the scheduler's part
    /// of a thread, if it can be read.
    pub fn of(
        host: &dyn Host,
        stacks: &[TaskStack],
        group_of: &dyn Fn(Tid) -> Option<Group>,
    ) -> Self {
        let mut running = Self::default();
        for thread in host.threads() {
            let own = stack_of(host, thread, stacks);
            let group = group_of(thread);
            let current = group.and_then(|group| group.current(host));
            let current = current.filter(|current| Some(*current) != own);
            let holder = |at| holder(stacks, at).filter(|meta| Some(*meta) != own);
            let left = group.and_then(|group| remained::left(host, thread, group.at, &holder));
            running.left.extend(left.map(|meta| (meta, thread)));
            if let Some(meta) = own {
                let switches = current.is_some() || is_in_switch(host, thread);
                running.on_stack.insert(meta, Runner { thread, switches });
            }
            running.current.extend(current.map(|meta| (meta, thread)));
        }
        running
    }

    /// The thread that is on the stack of a task.
    pub fn on_stack(&self, meta: Addr) -> Option<Runner> {
        self.on_stack.get(&meta).copied()
    }

    /// The thread that has left the stack of a task and has not yet done all that comes with that.
    pub fn left(&self, meta: Addr) -> Option<Tid> {
        self.left.get(&meta).copied()
    }

    /// The thread whose current task it is without being on its stack: it is about to switch to it, or runs
    /// it on its own stack.
    pub fn current(&self, meta: Addr) -> Option<Tid> {
        self.current.get(&meta).copied()
    }
}

/// The task whose stack a thread is on: by its stack pointer, or, where a signal handler has a stack of its
/// own, by that of the code which it interrupted.
fn stack_of(host: &dyn Host, thread: Tid, stacks: &[TaskStack]) -> Option<Addr> {
    let at = thread_stack::pointer(host, thread)?;
    let of = |at| holder(stacks, at);
    of(at).or_else(|| {
        let is_elsewhere = !thread_stack::is_own(host, thread, at);
        let frames = if is_elsewhere { host.frames(thread) } else { Vec::new() };
        frames.iter().filter_map(|frame| frame.sp).find_map(of)
    })
}

/// The task whose stack holds a stack pointer; that of an empty stack is its end.
fn holder(stacks: &[TaskStack], at: Addr) -> Option<Addr> {
    let behind = stacks.partition_point(|stack| stack.range.end < at);
    let found = stacks.get(behind)?;
    (found.range.start <= at).then_some(found.meta)
}

fn is_in_switch(host: &dyn Host, thread: Tid) -> bool {
    let pc = host.registers(thread).map(|regs| regs.pc());
    pc.and_then(|pc| host.function_at(CodeAddr::Pc(pc))).as_deref() == Some(SWITCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_held_up_to_its_end() {
        let stack = |start, end, meta| TaskStack {
            range: AddrRange::new(Addr::new(start), Addr::new(end)),
            meta: Addr::new(meta),
        };
        let stacks = [stack(0x1000, 0x2000, 1), stack(0x2000, 0x3000, 2), stack(0x5000, 0x6000, 3)];
        let holder = |at| holder(&stacks, Addr::new(at)).map(Addr::get);
        assert_eq!([holder(0xfff), holder(0x1000), holder(0x2000)], [None, Some(1), Some(1)]);
        assert_eq!([holder(0x2008), holder(0x4000), holder(0x6000)], [Some(2), None, Some(3)]);
    }
}
