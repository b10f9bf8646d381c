//! Saved contexts: where a thread was when a signal came.

use std::collections::HashSet;

use kcore_mem::{Addr, Fault};
use kcore_unwind::{Frame, SavedContext};

use crate::{Core, FoundContext, MAX_FRAMES, Tid};

/// Contexts of a chain that are read, at most.
const MAX_CHAIN: usize = 4096;
/// Offset of `uc_link` in `ucontext_t`.
const LINK: u64 = 8;

/// Questions about saved contexts: see [`Core::contexts`].
#[derive(Clone, Copy)]
pub struct Contexts<'c> {
    core: &'c Core,
}

impl Core {
    /// The contexts that were saved in its memory.
    pub const fn contexts(&self) -> Contexts<'_> {
        Contexts { core: self }
    }
}

impl<'c> Contexts<'c> {
    /// What the `ucontext_t` at an address holds; `None` for an architecture that is not supported.
    ///
    /// # Errors
    /// When it was not dumped whole.
    pub fn saved(&self, at: Addr) -> Option<Result<SavedContext, Fault>> {
        Some(self.core.machine()?.saved_context(at, self.core.space()))
    }

    /// The contexts that signals left on a thread's stack, innermost first.
    pub fn of_signals(&self, tid: Tid) -> Vec<Addr> {
        let Some(machine) = self.core.machine() else { return Vec::new() };
        let frames = self.core.stacks().of_thread(tid, MAX_FRAMES).frames;
        let restorers = frames.iter().filter(|frame| frame.signal_trampoline);
        let context =
            |frame: &Frame| machine.signal_context(frame.pc.addr(), frame.sp?, self.core.space());
        restorers.filter_map(context).collect()
    }

    /// A context and those that follow it by `uc_link`. A cycle, or memory that was not dumped, ends
    /// the chain.
    pub fn chain(&self, first: Addr) -> Vec<Addr> {
        let mut chain = Vec::new();
        let mut seen = HashSet::new();
        let mut next = Some(first);
        while let Some(at) = next.filter(|at| at.get() != 0) {
            if chain.len() >= MAX_CHAIN || !seen.insert(at) {
                break;
            }
            let Some(Ok(link)) = at.checked_add(LINK).map(|at| self.core.space().read_addr(at))
            else {
                break;
            };
            chain.push(at);
            next = Some(link);
        }
        chain
    }

    /// Those that are found in memory without being told where, in the order of their addresses. They are searched for
    /// once. `None` on a machine whose contexts are not known.
    pub fn found(&self) -> Option<&'c [FoundContext]> {
        self.core.found_contexts()
    }
}
