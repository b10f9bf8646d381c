//! Which thread is on the stack of which fiber.

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

use super::{scheduler::Scheduler, state::State};
use crate::{Host, thread_stack};

/// The stack of a fiber.
#[derive(Clone, Copy, Debug)]
pub struct FiberStack {
    /// The addresses that it may use.
    pub range: AddrRange,
    /// The fiber.
    pub fiber: Addr,
}

/// The fibers that threads run, or were about to leave or to enter. `is_left` says of a fiber whether the stack
/// pointer is known with which it was left.
pub fn running(
    host: &dyn Host,
    schedulers: &[Scheduler],
    stacks: &[FiberStack],
    is_left: &dyn Fn(Addr) -> bool,
) -> FxHashMap<Addr, State> {
    let mut states = FxHashMap::default();
    for scheduler in schedulers {
        let (thread, active) = (scheduler.thread, scheduler.active);
        let own = fiber_on(host, thread, stacks).or_else(|| main_on(host, scheduler));
        // Of a stack of which nothing is known, the scheduler's word counts.
        if own.map_or(!is_left(active), |own| own == active) {
            states.insert(active, State::Running(thread));
            continue;
        }
        states.insert(active, State::Switching(None));
        if let Some(own) = own {
            states.insert(own, State::Switching(Some(thread)));
        }
    }
    states
}

/// The fiber that a thread is on its own stack, if it is there.
fn main_on(host: &dyn Host, scheduler: &Scheduler) -> Option<Addr> {
    let at = thread_stack::pointer(host, scheduler.thread)?;
    thread_stack::is_own(host, scheduler.thread, at).then_some(scheduler.main)
}

/// The fiber whose stack a thread is on: by its stack pointer, or, where a signal handler has a stack of its
/// own, by that of the code which it interrupted. `stacks` lie in the order of their addresses.
fn fiber_on(host: &dyn Host, thread: Tid, stacks: &[FiberStack]) -> Option<Addr> {
    let holder = |at: Addr| {
        let behind = stacks.partition_point(|stack| stack.range.end <= at);
        let found = stacks.get(behind)?;
        found.range.contains(at).then_some(found.fiber)
    };
    let at = thread_stack::pointer(host, thread)?;
    holder(at).or_else(|| {
        let is_elsewhere = !thread_stack::is_own(host, thread, at);
        let frames = if is_elsewhere { host.frames(thread) } else { Vec::new() };
        frames.iter().filter_map(|frame| frame.sp).find_map(holder)
    })
}
