//! `pthread_barrier_t` of glibc 2.22 and later (`struct pthread_barrier`, glibc 2.36
//! `sysdeps/nptl/internaltypes.h`).

use super::{FoundLock, Sight};
use crate::waits::{lock::LockKind, word::read32};

const ROUND: i64 = 4;
const COUNT: i64 = 8;
/// No barrier is for more threads (`BARRIER_IN_THRESHOLD`).
const MAX_COUNT: u32 = i32::MAX.cast_unsigned();

/// The barrier whose round a function waits to end.
pub fn named(sight: &Sight<'_>) -> Option<FoundLock> {
    let at = sight.wait.word.wrapping_offset(-ROUND);
    let word = |offset: i64| read32(sight.space, at, offset);
    let (arrived, count) = (word(0)?.wrapping_sub(word(ROUND)?), word(COUNT)?);
    let is_wait = sight.wait.is_plain() && (1..=count).contains(&arrived) && count <= MAX_COUNT;
    is_wait.then(|| FoundLock::event(LockKind::Barrier, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::{futex::FutexWait, identities::Identities, made_memory::MadeMemory};
    use kcore_mem::Addr;

    #[test]
    fn some_of_its_threads_have_arrived() {
        let found = |words: &[u32]| {
            let space = MadeMemory::default().words32(0x1000, words);
            let word = Addr::new(0x1004);
            let wait = FutexWait { word, command: 9, expected: 0, has_limit: false, value: None };
            let identities = Identities::default();
            named(&Sight { space: &space, identities: &identities, wait: &wait })
        };
        let barrier = FoundLock::event(LockKind::Barrier, Addr::new(0x1000));
        assert_eq!(found(&[2, 0, 4]), Some(barrier));
        assert_eq!(found(&[9, 8, 4]), Some(barrier));
        assert_eq!(found(&[0, 0, 4]), None);
        assert_eq!(found(&[5, 0, 4]), None);
        assert_eq!(found(&[2, 0]), None);
    }
}
