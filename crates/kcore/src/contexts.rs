//! Saved contexts: where a thread was when a signal came.

use std::collections::HashSet;

use kcore_mem::{Addr, Fault};
use kcore_unwind::SavedContext;

use crate::{Core, MAX_FRAMES, Tid};

/// Contexts of a chain that are read, at most.
const MAX_CHAIN: usize = 4096;
/// Offset of `uc_link` in `ucontext_t`.
const LINK: u64 = 8;

impl Core {
    /// What the `ucontext_t` at an address holds; `None` for an architecture that is not supported.
    ///
    /// # Errors
    /// When it was not dumped whole.
    pub fn saved_context(&self, at: Addr) -> Option<Result<SavedContext, Fault>> {
        Some(self.machine()?.saved_context(at, self.space()))
    }

    /// The contexts that signals left on a thread's stack, innermost first.
    pub fn signal_contexts(&self, tid: Tid) -> Vec<Addr> {
        let Some(machine) = self.machine() else { return Vec::new() };
        let frames = self.stack(tid, MAX_FRAMES).frames;
        let restorers = frames.iter().filter(|frame| frame.signal_trampoline);
        restorers.filter_map(|frame| machine.signal_context(frame.sp?)).collect()
    }

    /// A context and those that follow it by `uc_link`. A cycle, or memory that was not dumped, ends
    /// the chain.
    pub fn context_chain(&self, first: Addr) -> Vec<Addr> {
        let mut chain = Vec::new();
        let mut seen = HashSet::new();
        let mut next = Some(first);
        while let Some(at) = next.filter(|at| at.get() != 0) {
            if chain.len() >= MAX_CHAIN || !seen.insert(at) {
                break;
            }
            let Some(Ok(link)) = at.checked_add(LINK).map(|at| self.space().read_addr(at)) else {
                break;
            };
            chain.push(at);
            next = Some(link);
        }
        chain
    }
}
