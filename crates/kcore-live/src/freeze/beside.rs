//! Runs work on a second thread, or on this one where no thread can be made.

use std::{
    sync::{Mutex, PoisonError},
    thread::{self, Builder, Scope, ScopedJoinHandle},
};

/// Runs `work` on a thread of its own and `meanwhile` on this one. Where no thread can be made, runs only `work`, on
/// this thread. Returns the result of `work`, or its panic.
pub fn beside<T: Send>(
    work: impl FnOnce() -> T + Send,
    meanwhile: impl FnOnce(),
) -> thread::Result<Option<T>> {
    let work = Mutex::new(Some(work));
    let once = || {
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.map(|work| work())
    };
    thread::scope(|scope| match spawn(scope, once) {
        Some(working) => {
            meanwhile();
            working.join()
        }
        None => Ok(once()),
    })
}

/// Spawns a thread; `None` where the system refuses.
pub fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_beside_and_once() {
        let here = thread::current().id();
        let mut seen = false;
        let there = beside(|| thread::current().id(), || seen = true).unwrap().unwrap();
        assert!(seen && there != here);
    }
}
