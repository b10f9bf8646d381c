//! The end of a thread: glibc waits for the kernel to clear the id in the thread's structure; since 2.43 for another
//! word of it (`nptl/pthread_join_common.c`).

use super::{FoundLock, Sight};
use crate::{
    Tid,
    waits::lock::{Holder, LockKind},
};

/// The end of a thread whose id lies in the word.
pub fn proven(sight: &Sight<'_>) -> Option<FoundLock> {
    let tid = sight.identities.joined(sight.wait.word, sight.wait.expected)?;
    sight.wait.is_plain().then(|| end_of(sight, tid))
}

/// The end of a thread in whose structure the word lies at which a function waits for that.
pub fn named(sight: &Sight<'_>) -> Option<FoundLock> {
    let tid = sight.identities.around(sight.wait.word)?;
    (sight.wait.is_plain() && sight.wait.is_unchanged()).then(|| end_of(sight, tid))
}

fn end_of(sight: &Sight<'_>, tid: Tid) -> FoundLock {
    FoundLock { holder: Holder::Thread(tid), ..FoundLock::event(LockKind::Join, sight.wait.word) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::{futex::FutexWait, identities::Identities, made_memory::MadeMemory};
    use kcore_mem::Addr;

    fn joined(
        look: fn(&Sight<'_>) -> Option<FoundLock>,
        word: u64,
        expected: u32,
    ) -> Option<Holder> {
        let identities = Identities::made(&[7]).with_field(7, 0x1000, 0x12d0);
        let space = MadeMemory::default();
        let word = Addr::new(word);
        let value = Some(expected);
        let wait = FutexWait { word, command: 9, expected, has_limit: false, value };
        look(&Sight { space: &space, identities: &identities, wait: &wait }).map(|it| it.holder)
    }

    #[test]
    fn the_word_with_the_id_of_a_thread_is_its_end() {
        let thread = Some(Holder::Thread(Tid::new(7)));
        assert_eq!(joined(proven, 0x12d0, 7), thread);
        assert_eq!(joined(proven, 0x12d0, 8), None);
        assert_eq!(joined(proven, 0x12d4, 7), None);
        assert_eq!(joined(named, 0x1628, 2), thread);
        assert_eq!(joined(named, 0x2628, 2), None);
    }
}
