//! Where threads are: on the stacks that the C library made for them, or on others.

use kcore_mem::Addr;
use kcore_unwind::{Frame, Tid};

use crate::{Host, fcontext};

/// Whether a stack pointer is on the stack that the C library made for a thread: its own block of memory lies
/// at the end of that.
pub fn is_own(host: &dyn Host, thread: Tid, at: Addr) -> bool {
    let Some(block) = host.thread_pointer(thread) else { return false };
    host.range_at(at).is_some_and(|mapping| mapping.range.contains(block))
}

/// The stack pointer of a thread.
pub fn pointer(host: &dyn Host, thread: Tid) -> Option<Addr> {
    let regs = host.registers(thread)?;
    regs.get(fcontext::stack_pointer(host.space().target().arch)?).map(Addr::new)
}

/// The native frame in which an address of the stack lies.
pub fn holder(frames: &[Frame], at: Addr) -> Option<usize> {
    let after = frames.partition_point(|frame| frame.sp.is_some_and(|sp| sp <= at));
    let place = after.checked_sub(1)?;
    let end = frames.get(after).and_then(|frame| frame.sp).or(frames.get(place)?.cfa)?;
    (at < end).then_some(place)
}
