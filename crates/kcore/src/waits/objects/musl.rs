//! Objects of musl 1.2 on 64-bit machines (`src/internal/pthread_impl.h`).

use super::{FoundLock, Sight};
use crate::waits::{
    identities::Library,
    lock::{Holder, LockKind},
    word::read32,
};

/// Where the word of a mutex lies behind its start.
const LOCK: i64 = 4;
const TYPE: i64 = 0;
const WAITERS: i64 = 8;

/// What a mutex holds that keeps no owner (`EBUSY`).
const NO_OWNER: u32 = 16;
const WAITED_FOR: u32 = 0x8000_0000;
const ID: u32 = 0x3fff_ffff;
/// The bits of a type that are known, and those that tell whether it keeps its owner.
const TYPES: u32 = 0x8f;
const KEEPS_OWNER: u32 = 0xf;

/// The mutex that a word proves to be by what it and its neighbours hold.
pub fn proven_mutex(sight: &Sight<'_>) -> Option<FoundLock> {
    let (wait, at) = (sight.wait, sight.wait.word.wrapping_offset(-LOCK));
    let word = |offset: i64| read32(sight.space, at, offset);
    let mutex_type = word(TYPE).filter(|it| it & !TYPES == 0)?;
    let is_wait = wait.is_plain() && wait.is_unchanged() && wait.expected & WAITED_FOR != 0;
    if sight.identities.library() != Library::Musl || !is_wait || word(WAITERS)? == 0 {
        return None;
    }
    let id = wait.expected & ID;
    let holder = match mutex_type & KEEPS_OWNER {
        0 => (id == NO_OWNER).then_some(Holder::NotRecorded),
        _ => sight.identities.thread(id).map(Holder::Thread),
    };
    Some(FoundLock::held(LockKind::MuslMutex, at, holder?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Tid,
        waits::{futex::FutexWait, identities::Identities, made_memory::MadeMemory},
    };
    use kcore_mem::Addr;

    #[test]
    fn a_normal_mutex_keeps_no_owner() {
        let holder = |words: [u32; 3]| {
            let space = MadeMemory::default().words32(0x1000, &words);
            let identities = Identities::made(&[7, 16]).of_musl();
            let (word, expected) = (Addr::new(0x1004), words[1]);
            let value = Some(expected);
            let wait = FutexWait { word, command: 0, expected, has_limit: false, value };
            let found =
                proven_mutex(&Sight { space: &space, identities: &identities, wait: &wait });
            found.map(|found| found.holder)
        };
        assert_eq!(holder([0, WAITED_FOR | NO_OWNER, 1]), Some(Holder::NotRecorded));
        assert_eq!(holder([1, WAITED_FOR | 7, 1]), Some(Holder::Thread(Tid::new(7))));
        assert_eq!(holder([1, WAITED_FOR | 9, 1]), None);
        assert_eq!(holder([0, WAITED_FOR | 7, 1]), None);
        assert_eq!(holder([1, WAITED_FOR | 7, 0]), None);
        assert_eq!(holder([0x100, WAITED_FOR | 7, 1]), None);
        assert_eq!(holder([1, 7, 1]), None);
    }
}
