//! `pthread_cond_t` of glibc 2.25 and later (`struct __pthread_cond_s`, glibc 2.36 and 2.41
//! `sysdeps/nptl/bits/thread-shared-types.h`).

use kcore_mem::Addr;

use super::{FoundLock, Sight};
use crate::waits::lock::LockKind;

/// Where the words of signals begin before glibc 2.41, and since.
const SIGNALS: [i64; 2] = [40, 32];

/// Where the condition variable may lie whose waiters sleep on a word: it begins at a multiple of eight bytes, and has
/// two such words.
pub fn candidates(word: Addr) -> [Addr; 2] {
    let second = i64::from(!word.get().is_multiple_of(8)).wrapping_mul(4);
    SIGNALS.map(|signals| word.wrapping_offset(signals.saturating_add(second).wrapping_neg()))
}

/// The condition variable at `at`, if that is known; else the word stands for it.
pub fn named(sight: &Sight<'_>, at: Option<Addr>) -> Option<FoundLock> {
    // Waiters that were woken sleep on the mutex, whose word has to be 2.
    let is_wait = sight.wait.is_plain() && sight.wait.expected != 2;
    is_wait.then(|| FoundLock::event(LockKind::Condition, at.unwrap_or(sight.wait.word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::{futex::FutexWait, identities::Identities, made_memory::MadeMemory};

    #[test]
    fn both_layouts_and_both_groups_lead_to_the_base() {
        let base = Addr::new(0x1000);
        for (distance, layout) in [(40, 0), (44, 0), (32, 1), (36, 1)] {
            assert_eq!(candidates(base.wrapping_offset(distance))[layout], base);
        }
    }

    #[test]
    fn a_wait_for_the_mutex_is_none_for_the_condition() {
        let (space, identities) = (MadeMemory::default(), Identities::default());
        let found = |command, expected| {
            let word = Addr::new(0x1028);
            let wait = FutexWait { word, command, expected, has_limit: false, value: None };
            let sight = Sight { space: &space, identities: &identities, wait: &wait };
            named(&sight, Some(Addr::new(0x1000))).map(|found| found.at.get())
        };
        assert_eq!(found(9, 0), Some(0x1000));
        assert_eq!(found(0, 2), None);
        assert_eq!(found(6, 0), None);
    }
}
