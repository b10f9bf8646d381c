//! The signal of a profile's timers.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{
    collector::is_blocked_but_not,
    error::AgentError,
    handler,
    sys::{self, Action},
};

/// By default the system ignores it: where the program takes it away while timers run, no thread dies of one.
/// A thread that blocks it may wait for it (signalfd(2), sigwaitinfo(2)).
const IGNORED: i32 = libc::SIGURG;

/// Whether the handler of that signal is the agent's.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The signal of a profile's timers, from its beginning to its end.
pub struct Ticks {
    signal: i32,
    /// What was in place after the handler was installed; `None` of the signal for stacks.
    action: Option<Action>,
}

impl Ticks {
    /// Takes the signal that is ignored by default, and the one for stacks where the program has that for itself: where
    /// it handles it, or a thread blocks it that does not block the one for stacks.
    pub fn begin(stacks: i32) -> Self {
        let is_default = sys::handler_of(IGNORED).is_some_and(|action| sys::is_default(&action));
        let is_free = is_default && !is_blocked_but_not(IGNORED, stacks);
        TAKEN.store(is_free, Ordering::Release);
        match is_free.then(|| sys::install_handler(IGNORED, handler::handle)).flatten() {
            Some(action) => Self { signal: IGNORED, action: Some(action) },
            None => Self::by(stacks),
        }
    }

    /// Takes the signal for stacks, whose handler is there.
    pub const fn by(stacks: i32) -> Self {
        Self { signal: stacks, action: None }
    }

    /// The signal.
    pub const fn signal(&self) -> i32 {
        self.signal
    }

    /// Checks that the handlers are still the agent's.
    ///
    /// # Errors
    /// When the program has put another one there.
    pub fn check(&self) -> Result<(), AgentError> {
        handler::check()?;
        let is_there = self.action.is_none() || sys::handler_of(self.signal) == self.action;
        if is_there { Ok(()) } else { Err(AgentError::SignalInUse(self.signal)) }
    }
}

impl Drop for Ticks {
    fn drop(&mut self) {
        if self.action.is_some() && sys::handler_of(self.signal) == self.action {
            sys::remove_handler(self.signal);
        }
        TAKEN.store(false, Ordering::Release);
    }
}

/// Gives the signal back in a process that was forked off, which has no timers.
pub fn forget() {
    let is_own = |action: Action| action.is(handler::handle);
    if TAKEN.swap(false, Ordering::AcqRel) && sys::handler_of(IGNORED).is_some_and(is_own) {
        sys::remove_handler(IGNORED);
    }
}
