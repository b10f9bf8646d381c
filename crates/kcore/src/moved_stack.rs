//! Stacks that share one place, where those which are left are copied elsewhere.

use kcore_mem::{Addr, CodeAddr, MovedBytes, WithMoved};
use kcore_unwind::{End, Frame, Regs, Trust, Walker};

use crate::{Core, Stack, stack::StackOrigin};

/// Frames between two looks at the clock.
const EVERY: usize = 1024;

/// A stack of which a part was moved away.
#[derive(Clone, Copy)]
pub struct MovedStack {
    /// The part.
    pub moved: MovedBytes,
    /// Its stack pointer.
    pub sp: Addr,
    /// Its frame pointer, where that is needed.
    pub frame_pointer: Option<Addr>,
    /// Where it goes on, exact.
    pub pc: Addr,
    /// The address behind which the stack is not its own, if that is known.
    pub limit: Option<Addr>,
}

impl Core {
    /// The frames of a stack that was moved away, at most `limit` of them. A frame that reaches beyond its own end is
    /// none of them. No stack but it has its registers: what they led to now is another's.
    pub(crate) fn moved_stack(&self, moved: &MovedStack, limit: usize) -> Stack {
        let Some(machine) = self.machine() else { return Stack::empty(None, End::Unsupported) };
        let space = WithMoved::new(self.space(), moved.moved);
        let mut walker = Walker::sharing(&space, self.code(), machine, &self.knowledge);
        let mut regs = Regs::new(moved.pc);
        regs.set(machine.stack_pointer(), Some(moved.sp.get()));
        regs.set(machine.frame_pointer(), moved.frame_pointer.map(Addr::get));
        let pc = CodeAddr::Pc(moved.pc);
        let start = StackOrigin { regs, pc, trust: Trust::Runtime, is_thread: false };
        let mut stack = self.charged(limit, |limit| {
            let mut end_at = |frames: &[Frame]| self.end_of_moved(moved, frames);
            Stack::walk_until(None, &mut walker, start, limit, &mut end_at)
        });
        if stack.frames.last().is_some_and(|last| moved.is_beyond(last)) {
            stack.frames.pop();
        }
        stack.forget_origin();
        stack
    }

    fn end_of_moved(&self, moved: &MovedStack, frames: &[Frame]) -> Option<End> {
        let last = frames.last()?;
        if frames.len().is_multiple_of(EVERY) && self.budget().halt().is_some() {
            return Some(End::Halted(last.pc.addr()));
        }
        moved.is_beyond(last).then_some(End::Outermost)
    }
}

impl MovedStack {
    /// Whether a frame reaches beyond the end of the stack.
    fn is_beyond(&self, frame: &Frame) -> bool {
        self.limit.zip(frame.cfa).is_some_and(|(limit, cfa)| cfa > limit)
    }
}
