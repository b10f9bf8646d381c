//! Which thread runs what.

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Tid;

use super::context;
use crate::Host;

/// A thread that is on a stack of somebody's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Runner {
    /// The thread.
    pub thread: Tid,
    /// Whether it was stopped in the midst of a switch, in `bthread_jump_fcontext`: its stack pointer tells
    /// on which side.
    pub switches: bool,
}

/// The stack pointers of all threads.
pub struct Running(Vec<(Addr, Runner)>);

impl Running {
    /// Those of a process.
    pub fn of(host: &dyn Host) -> Self {
        let threads = host.threads().into_iter();
        let mut pointers: Vec<_> = threads.filter_map(|thread| pointer(host, thread)).collect();
        pointers.sort_by_key(|(at, _)| *at);
        Self(pointers)
    }

    /// The thread whose stack pointer lies in a range; that of an empty stack is its end.
    pub fn within(&self, range: AddrRange) -> Option<Runner> {
        let first = self.0.partition_point(|(at, _)| *at < range.start);
        let (at, runner) = self.0.get(first)?;
        (*at < range.end).then_some(*runner)
    }
}

fn pointer(host: &dyn Host, thread: Tid) -> Option<(Addr, Runner)> {
    let regs = host.registers(thread)?;
    let at = regs.get(context::stack_pointer(host.space().target().arch)?)?;
    let function = host.function_at(kcore_mem::CodeAddr::Pc(regs.pc()));
    let switches = function.as_deref() == Some("bthread_jump_fcontext");
    Some((Addr::new(at), Runner { thread, switches }))
}
