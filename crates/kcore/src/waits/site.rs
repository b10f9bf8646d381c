//! Where in a program's own code a thread waits.

use crate::{Core, NamedFrame, Tid};

/// Frames that are looked through. Own code further out is not found.
const FRAMES: usize = 64;

impl Core {
    /// The innermost frame of a thread that is of the program's own code, as far as no guess leads to it. One without
    /// a name counts if there is no other.
    pub fn wait_site(&self, tid: Tid) -> Option<NamedFrame> {
        let stack = self.stacks().of_thread(tid, FRAMES);
        let own = || self.stacks().own_frames(&stack).filter(|frame| !frame.is_guess());
        own().find(|frame| frame.location.function.is_some()).or_else(|| own().next())
    }
}
