//! `pthread_once_t` of glibc: a word whose lowest bit says that a thread runs the function (glibc 2.36
//! `nptl/pthread_once.c`).

use super::{FoundLock, Sight};
use crate::waits::lock::{Holder, LockKind};

const IN_PROGRESS: u32 = 1;
const DONE: u32 = 2;

/// What is to be done once, at a word at which a function waits for that. Memory does not record by whom.
pub fn named(sight: &Sight<'_>) -> Option<FoundLock> {
    let is_running = |word: u32| word & (IN_PROGRESS | DONE) == IN_PROGRESS;
    let is_wait = sight.wait.is_plain() && is_running(sight.wait.expected);
    let holder = match sight.wait.value {
        Some(value) if is_running(value) => Holder::NotRecorded,
        Some(_) => Holder::Nobody,
        None => Holder::Unknown,
    };
    is_wait.then(|| FoundLock { holder, ..FoundLock::event(LockKind::Once, sight.wait.word) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::{futex::FutexWait, identities::Identities, made_memory::MadeMemory};
    use kcore_mem::Addr;

    #[test]
    fn who_does_it_is_not_recorded() {
        let holder = |expected, value| {
            let word = Addr::new(0x1000);
            let wait = FutexWait { word, command: 0, expected, has_limit: false, value };
            let (space, identities) = (MadeMemory::default(), Identities::default());
            let found = named(&Sight { space: &space, identities: &identities, wait: &wait });
            found.map(|found| found.holder)
        };
        assert_eq!(holder(1, Some(1)), Some(Holder::NotRecorded));
        assert_eq!(holder(5, Some(5)), Some(Holder::NotRecorded));
        assert_eq!(holder(1, Some(2)), Some(Holder::Nobody));
        assert_eq!(holder(1, None), Some(Holder::Unknown));
        assert_eq!((holder(2, Some(2)), holder(0, Some(0))), (None, None));
    }
}
