//! The lock of a `FILE` of glibc: `{ int lock; int count; void *owner; }`, the owner being a `pthread_t` (glibc 2.36
//! `sysdeps/nptl/stdio-lock.h`).

use kcore_mem::{Addr, AddressSpace};

use super::{FoundLock, Sight};
use crate::waits::{
    identities::Identities,
    lock::{Holder, LockKind},
    word::read32,
};

const OWNER: i64 = 8;
/// The largest value of the lock itself.
const CONTENDED: u32 = 2;

/// The lock at a word at which a function of stdio waits.
pub fn named(sight: &Sight<'_>) -> Option<FoundLock> {
    let holder = holder(sight.space, sight.wait.word, sight.identities)?;
    let is_wait = sight.wait.is_plain() && sight.wait.expected == CONTENDED;
    is_wait.then(|| FoundLock::held(LockKind::Stream, sight.wait.word, holder))
}

/// Who holds it; `None` if its words are not those of such a lock.
fn holder(space: &dyn AddressSpace, at: Addr, identities: &Identities) -> Option<Holder> {
    let lock = read32(space, at, 0).filter(|lock| *lock <= CONTENDED)?;
    let owner = space.read_addr(at.wrapping_offset(OWNER)).ok()?;
    match (lock, owner.get()) {
        (0, _) => Some(Holder::Nobody),
        (_, 0) => Some(Holder::NotRecorded),
        _ => identities.of_pointer(owner).map(Holder::Thread),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Tid,
        waits::{futex::FutexWait, made_memory::MadeMemory},
    };

    #[test]
    fn its_owner_is_known_by_the_pointer_to_its_structure() {
        let holder = |words: &[u32]| {
            let space = MadeMemory::default().words32(0x1000, words);
            let identities = Identities::made(&[7]).with_field(7, 0x5000, 0x52d0);
            let word = Addr::new(0x1000);
            let wait = FutexWait { word, command: 0, expected: 2, has_limit: false, value: None };
            let found = named(&Sight { space: &space, identities: &identities, wait: &wait });
            found.map(|found| found.holder)
        };
        assert_eq!(holder(&[2, 1, 0x5000, 0]), Some(Holder::Thread(Tid::new(7))));
        assert_eq!(holder(&[2, 0, 0, 0]), Some(Holder::NotRecorded));
        assert_eq!(holder(&[0, 0, 0, 0]), Some(Holder::Nobody));
        assert_eq!(holder(&[2, 1, 0x6000, 0]), None);
        assert_eq!(holder(&[9, 1, 0x5000, 0]), None);
    }
}
