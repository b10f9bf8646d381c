//! What part of `sync` a goroutine waits in, by the functions of its innermost frames (`sync/once.go`, `sync/rwmutex.go`,
//! `sync/waitgroup.go`, `sync/mutex.go`). Reasons alone tell less: before Go 1.20 they are all the same, and later that of
//! a mutex stands also for what has one inside.

use std::sync::Arc;

use kcore_mem::CodeAddr;

use super::{Go, goroutine::Goroutine, semaphore::WAIT_GROUP};
use crate::Host;

/// Frames that are looked at.
const FRAMES: usize = 12;
/// What names of functions begin with that are between the program and the wait.
const INSIDE: [&str; 3] = ["runtime.", "sync.", "internal/sync."];

/// A part of `sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// A `sync.Mutex`.
    Mutex,
    /// A `sync.RWMutex` that another writer has or waits for: by its own mutex.
    SharedByMutex,
    /// A `sync.RWMutex` that readers have.
    SharedForWriter,
    /// A `sync.RWMutex` that a writer has or waits for.
    SharedForReader,
    /// A `sync.WaitGroup`.
    Group,
    /// A `sync.Once` whose function runs.
    Once,
}

impl LockKind {
    /// The name of its type, and how far behind its beginning the semaphore lies, in bytes.
    pub const fn of_semaphore(self) -> (&'static str, u64) {
        match self {
            Self::Mutex => ("sync.Mutex", 4),
            Self::SharedByMutex => ("sync.RWMutex", 4),
            Self::SharedForWriter => ("sync.RWMutex", 8),
            Self::SharedForReader => ("sync.RWMutex", 12),
            Self::Group => (WAIT_GROUP, 8),
            // Its mutex lies behind a word of 32 bits.
            Self::Once => ("sync.Once", 8),
        }
    }

    /// What functions say, the innermost one first, up to that of the program.
    fn of_functions(functions: &[Arc<str>]) -> Option<Self> {
        let inside = |name: &&Arc<str>| INSIDE.iter().any(|prefix| name.starts_with(prefix));
        let functions: Vec<&str> =
            functions.iter().take_while(inside).map(|name| &**name).collect();
        let has = |part: &str| functions.iter().any(|name| name.contains(part));
        let by_mutex = has("sync.(*Mutex).");
        match () {
            () if has("sync.(*Once).") => Some(Self::Once),
            () if has("sync.(*RWMutex).") && by_mutex => Some(Self::SharedByMutex),
            () if has("sync.(*RWMutex).Lock") => Some(Self::SharedForWriter),
            () if has("sync.(*RWMutex).RLock") => Some(Self::SharedForReader),
            () if has("sync.(*WaitGroup).") => Some(Self::Group),
            () => by_mutex.then_some(Self::Mutex),
        }
    }
}

impl Go {
    /// What part of `sync` a goroutine waits in, if its stack tells.
    pub(super) fn lock_kind(&self, host: &dyn Host, goroutine: &Goroutine) -> Option<LockKind> {
        LockKind::of_functions(&self.innermost(host, goroutine))
    }

    /// The names of the functions of the innermost frames of a goroutine that does not run.
    fn innermost(&self, host: &dyn Host, goroutine: &Goroutine) -> Vec<Arc<str>> {
        let mut found = Vec::new();
        let (mut pc, mut sp) = (self.resumes_at(host, goroutine.saved), goroutine.saved.sp);
        for _ in 0..FRAMES {
            let Some(place) = self.place(host, pc) else { break };
            let frames =
                super::inline::frames_at(&self.tables, host.space(), &place.function, pc.lookup());
            found.extend(frames.into_iter().filter_map(|frame| frame.function));
            let within = sp.filter(|sp| goroutine.stack.contains(*sp));
            let caller = within
                .zip(place.stack_delta)
                .and_then(|(sp, delta)| self.abi.return_of(host.space(), sp, delta, None));
            let Some((caller, cfa)) = caller else { break };
            (pc, sp) = (CodeAddr::Return(caller), Some(cfa));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(functions: &[&str]) -> Option<LockKind> {
        let all: Vec<Arc<str>> = functions.iter().map(|name| (*name).into()).collect();
        LockKind::of_functions(&all)
    }

    const PARKED: [&str; 2] = ["runtime.gopark", "sync.runtime_SemacquireMutex"];

    fn parked(more: &[&str]) -> Option<LockKind> {
        kind(&[&PARKED, more].concat())
    }

    #[test]
    fn what_has_a_mutex_inside_is_told_by_who_locks_that() {
        let mutex = ["internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock"];
        let within = |outer: &str| parked(&[&mutex[..], &[outer, "main.main"]].concat());
        assert_eq!(within("sync.(*Once).doSlow"), Some(LockKind::Once));
        assert_eq!(within("sync.(*RWMutex).Lock"), Some(LockKind::SharedByMutex));
        assert_eq!(within("main.lock"), Some(LockKind::Mutex));
    }

    #[test]
    fn what_the_program_called_before_says_nothing() {
        let functions = ["sync.(*Mutex).lockSlow", "main.inner", "sync.(*Once).doSlow"];
        assert_eq!(parked(&functions), Some(LockKind::Mutex));
        assert_eq!(kind(&["main.main"]), None);
    }
}
