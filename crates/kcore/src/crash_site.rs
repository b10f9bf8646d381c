//! Where in its own code a process died.

use crate::{Core, NamedFrame, Stack, StackView, Tid};

/// Frames that are looked through. Own code further out is not found.
const FRAMES: usize = 1024;

/// The innermost frame of a program's own code on the stack of a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CrashSite {
    /// The thread that crashed, or the one on which the fault came about that a handler was told of first.
    pub tid: Tid,
    /// The frame. Its index is that of the thread's whole stack.
    pub frame: NamedFrame,
}

/// Questions about how the process ended: see [`Core::crash`].
#[derive(Clone, Copy)]
pub struct CrashView<'c> {
    pub(crate) core: &'c Core,
}

impl Core {
    /// How it ended: beside [`Core::status`], what its stacks and memory tell of that.
    pub const fn crash(&self) -> CrashView<'_> {
        CrashView { core: self }
    }
}

impl CrashView<'_> {
    /// Where in its own code the process died: in the innermost frame that is neither of the C library nor of a
    /// language's runtime or standard library. Where a handler was told of a fault, frames of the handler do not count;
    /// code without a name counts if there is no other.
    ///
    /// `None` if nothing crashed, or no such frame is known.
    pub fn site(self) -> Option<CrashSite> {
        let crashed = self.core.crashed_thread()?;
        let handled = self.core.handled_signals(crashed);
        let first = handled.first_fault();
        let tid = first.map_or(crashed.tid, |signal| signal.stop.tid);
        let stack = self.core.stacks().of_thread(tid, FRAMES);
        let interrupted = first
            .and_then(|signal| signal.stop.pc)
            .and_then(|pc| stack.frames.iter().position(|frame| frame.pc.addr() == pc));
        let from = interrupted.unwrap_or_default();
        let own = || self.core.stacks().own_frames(&stack).filter(|frame| frame.physical >= from);
        let frame =
            own().find(|frame| frame.location.function.is_some()).or_else(|| own().next())?;
        Some(CrashSite { tid, frame })
    }
}

impl<'c> StackView<'c> {
    /// The frames of a stack that are of the program's own code, as [`CrashView::site`] has it.
    pub fn own_frames(self, stack: &'c Stack) -> impl Iterator<Item = NamedFrame> + 'c {
        self.named_frames(stack).filter(|frame| self.core.is_own(frame))
    }
}
