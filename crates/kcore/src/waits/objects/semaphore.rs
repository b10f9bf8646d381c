//! `sem_t` of glibc 2.21 and later on 64-bit machines: the value, then the number of waiters (`struct new_sem`, glibc
//! 2.36 `sysdeps/nptl/internaltypes.h`).

use super::{FoundLock, Sight};
use crate::waits::{lock::LockKind, word::read32};

const WAITERS: i64 = 4;

/// The semaphore at a word at which a function waits for one: a thread sleeps while its value is 0.
pub fn named(sight: &Sight<'_>) -> Option<FoundLock> {
    let waiters = read32(sight.space, sight.wait.word, WAITERS)?;
    let is_wait = sight.wait.is_plain() && sight.wait.expected == 0 && waiters > 0;
    is_wait.then(|| FoundLock::event(LockKind::Semaphore, sight.wait.word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::{futex::FutexWait, identities::Identities, made_memory::MadeMemory};
    use kcore_mem::Addr;

    #[test]
    fn a_semaphore_has_waiters_and_no_value() {
        let found = |words: &[u32], expected| {
            let space = MadeMemory::default().words32(0x1000, words);
            let word = Addr::new(0x1000);
            let wait = FutexWait { word, command: 9, expected, has_limit: false, value: None };
            let identities = Identities::default();
            named(&Sight { space: &space, identities: &identities, wait: &wait })
        };
        let semaphore = FoundLock::event(LockKind::Semaphore, Addr::new(0x1000));
        assert_eq!(found(&[0, 2, 0, 0], 0), Some(semaphore));
        assert_eq!(found(&[0, 0, 0, 0], 0), None);
        assert_eq!(found(&[2, 1, 0, 0], 2), None);
        assert_eq!(found(&[0], 0), None);
    }
}
