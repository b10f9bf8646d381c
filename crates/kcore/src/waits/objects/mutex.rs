//! `pthread_mutex_t` of glibc on 64-bit machines (`struct __pthread_mutex_s`, glibc 2.36
//! `sysdeps/nptl/bits/struct_mutex.h`, `nptl/pthreadP.h`).

use kcore_mem::{Addr, AddressSpace};

use super::{FoundLock, Sight};
use crate::waits::{
    futex::{LOCK_PI, LOCK_PI2},
    identities::Identities,
    lock::{Holder, LockKind, MutexKind, MutexType},
    word::read32,
};

const OWNER: i64 = 8;
const USERS: i64 = 12;
const KIND: i64 = 16;

const TYPE: u32 = 3;
const ROBUST: u32 = 0x10;
const INHERITS: u32 = 0x20;
const PROTECTS: u32 = 0x40;
const SHARED: u32 = 0x80;
/// No kind has this bit, or one above it.
const KIND_END: u32 = 0x400;

/// The bits of the word of a robust or priority-inheriting mutex that hold its owner's id (`FUTEX_TID_MASK`).
const ID: u32 = 0x3fff_ffff;
/// `FUTEX_WAITERS`.
const WAITERS: u32 = 0x8000_0000;
/// The owners of a robust mutex that is not consistent, and of one that is not to be recovered.
const NO_OWNERS: [u32; 2] = [0x7fff_ffff, 0x7fff_fffe];

/// The words of a mutex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MutexWords {
    lock: u32,
    owner: u32,
    users: u32,
    kind: u32,
}

/// The mutex that a word proves to be by what it and its neighbours hold.
pub fn proven(sight: &Sight<'_>) -> Option<FoundLock> {
    let words = MutexWords::load(sight.space, sight.wait.word)?;
    let wait = sight.wait;
    let is_proven = match wait.command {
        LOCK_PI | LOCK_PI2 => words.kind & INHERITS != 0 && words.names_owner_twice(),
        _ if !wait.is_plain() => false,
        _ if wait.expected & WAITERS != 0 => {
            words.kind & ROBUST != 0 && wait.expected & ID == words.owner && words.owner != 0
        }
        _ => {
            let is_plain = words.kind & (ROBUST | INHERITS | PROTECTS | 0xc) == 0;
            let is_held = wait.expected == 2 && words.lock == 2 && words.users >= 1;
            is_plain && is_held && sight.identities.thread(words.owner).is_some()
        }
    };
    (is_proven && words.kind < KIND_END).then(|| words.found(wait.word, sight.identities))
}

/// The mutex at a word at which a function locks one.
pub fn named(sight: &Sight<'_>) -> Option<FoundLock> {
    if is_refused(sight) {
        return None;
    }
    let words = MutexWords::load(sight.space, sight.wait.word)?;
    (words.kind < KIND_END).then(|| words.found(sight.wait.word, sight.identities))
}

/// The priority-inheriting mutex at an address, if the kernel refused to lock it.
#[cfg(any(feature = "disassembly", test))]
pub fn refused(sight: &Sight<'_>, at: Addr) -> Option<FoundLock> {
    let words = MutexWords::load(sight.space, at)?;
    let is_one = words.kind & INHERITS != 0 && words.kind < KIND_END && words.names_owner_twice();
    (is_one && is_refused(sight)).then(|| words.found(at, sight.identities))
}

/// Whether glibc waits for a word of its own, which holds 0: so it does for ever after the kernel refused to lock a mutex
/// whose owner inherits priority, for a deadlock (glibc 2.36 `nptl/pthread_mutex_lock.c`).
fn is_refused(sight: &Sight<'_>) -> bool {
    sight.wait.is_plain() && sight.wait.expected == 0
}

impl MutexWords {
    fn load(space: &dyn AddressSpace, at: Addr) -> Option<Self> {
        let word = |offset: i64| read32(space, at, offset);
        Some(Self { lock: word(0)?, owner: word(OWNER)?, users: word(USERS)?, kind: word(KIND)? })
    }

    fn found(self, at: Addr, identities: &Identities) -> FoundLock {
        FoundLock::held(LockKind::Mutex(self.mutex_kind()), at, self.holder(identities))
    }

    /// A mutex that is robust, or whose owner inherits priority, has the owner's id in its word too.
    const fn has_id_in_word(self) -> bool {
        self.kind & (ROBUST | INHERITS) != 0
    }

    const fn names_owner_twice(self) -> bool {
        self.lock & ID == self.owner && self.owner != 0
    }

    /// Who holds it. The owner is stored after the lock is taken, and cleared before it is released.
    fn holder(self, identities: &Identities) -> Holder {
        let held = if self.has_id_in_word() { self.lock & ID } else { self.lock };
        if held == 0 {
            return Holder::Nobody;
        }
        if NO_OWNERS.contains(&self.owner) || (self.has_id_in_word() && !self.names_owner_twice()) {
            return Holder::NotRecorded;
        }
        identities.holder(self.owner)
    }

    const fn mutex_kind(self) -> MutexKind {
        let mutex_type = match self.kind & TYPE {
            0 => MutexType::Normal,
            1 => MutexType::Recursive,
            2 => MutexType::ErrorChecking,
            _ => MutexType::Adaptive,
        };
        MutexKind {
            mutex_type,
            is_robust: self.kind & ROBUST != 0,
            inherits_priority: self.kind & INHERITS != 0,
            is_shared: self.kind & SHARED != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Tid,
        waits::{
            futex::{FutexWait, WAIT},
            made_memory::MadeMemory,
        },
    };

    const AT: u64 = 0x1000;
    const OWNER_ID: u32 = 4711;

    fn wait(command: u32, expected: u32) -> FutexWait {
        let word = Addr::new(AT);
        FutexWait { word, command, expected, has_limit: false, value: None }
    }

    /// Lock, count, owner, users and kind.
    fn with(
        words: [u32; 5],
        wait: &FutexWait,
        look: fn(&Sight<'_>) -> Option<FoundLock>,
    ) -> Option<FoundLock> {
        let space = MadeMemory::default().words32(AT, &words);
        let identities = Identities::made(&[OWNER_ID]);
        look(&Sight { space: &space, identities: &identities, wait })
    }

    fn owned() -> Holder {
        Holder::Thread(Tid::new(OWNER_ID))
    }

    #[test]
    fn words_of_each_kind_prove_a_mutex() {
        let kinds = [
            ([2, 0, OWNER_ID, 1, 0], wait(WAIT, 2), MutexType::Normal),
            ([2, 0, OWNER_ID, 1, 0x200], wait(WAIT, 2), MutexType::Normal),
            ([2, 2, OWNER_ID, 1, 1], wait(WAIT, 2), MutexType::Recursive),
            ([2, 0, OWNER_ID, 1, 0x82], wait(WAIT, 2), MutexType::ErrorChecking),
            ([2, 0, OWNER_ID, 3, 3], wait(9, 2), MutexType::Adaptive),
            (
                [WAITERS | OWNER_ID, 1, OWNER_ID, 1, 0x90],
                wait(WAIT, WAITERS | OWNER_ID),
                MutexType::Normal,
            ),
            ([WAITERS | OWNER_ID, 0, OWNER_ID, 1, 0x20], wait(LOCK_PI, 0), MutexType::Normal),
        ];
        for (words, wait, mutex_type) in kinds {
            let found = with(words, &wait, proven).unwrap_or_else(|| panic!("{words:x?}"));
            let LockKind::Mutex(kind) = found.kind else { panic!("{found:?}") };
            assert_eq!(
                (kind.mutex_type, found.holder, found.at),
                (mutex_type, owned(), Addr::new(AT))
            );
            assert_eq!(kind.is_robust, words[4] & ROBUST != 0);
            assert_eq!(kind.inherits_priority, words[4] & INHERITS != 0);
        }
    }

    #[test]
    fn words_that_do_not_fit_prove_nothing() {
        let others = [
            ([2, 0, 99, 1, 0], wait(WAIT, 2)),
            ([2, 0, OWNER_ID, 0, 0], wait(WAIT, 2)),
            ([1, 0, OWNER_ID, 1, 0], wait(WAIT, 2)),
            ([2, 0, OWNER_ID, 1, 0x1000], wait(WAIT, 2)),
            ([2, 0, OWNER_ID, 1, 4], wait(WAIT, 2)),
            ([WAITERS | 5, 1, OWNER_ID, 1, 0x90], wait(WAIT, WAITERS | 5)),
            ([WAITERS | 5, 1, OWNER_ID, 1, 0x20], wait(LOCK_PI, 0)),
            ([WAITERS, 1, 0, 1, 0x20], wait(LOCK_PI, 0)),
            ([WAITERS | OWNER_ID, 0, OWNER_ID, 1, 0], wait(LOCK_PI, 0)),
        ];
        for (words, wait) in others {
            assert_eq!(with(words, &wait, proven), None, "{words:x?}");
        }
        assert_eq!(with([2, 0, 1, 1, 0x400], &wait(WAIT, 2), named), None);
        let own_word = with([0, 0, 0, 0, 0], &wait(WAIT, 0), named);
        assert_eq!(own_word, None, "where glibc waits after the kernel refused a deadlock");
    }

    #[test]
    fn a_mutex_that_the_kernel_refused_is_told_by_its_words() {
        let refused = |words: [u32; 5], expected| {
            let space = MadeMemory::default().words32(AT, &words);
            let identities = Identities::made(&[OWNER_ID]);
            let wait = FutexWait { word: Addr::new(0x9000), ..wait(WAIT, expected) };
            let sight = Sight { space: &space, identities: &identities, wait: &wait };
            refused(&sight, Addr::new(AT)).map(|found| (found.at.get(), found.holder))
        };
        let inherits = [WAITERS | OWNER_ID, 0, OWNER_ID, 1, 0x20];
        assert_eq!(refused(inherits, 0), Some((AT, owned())));
        assert_eq!(refused(inherits, 2), None, "another wait");
        assert_eq!(refused([2, 0, OWNER_ID, 1, 0], 0), None, "the kernel is not asked");
        assert_eq!(refused([WAITERS | 5, 0, OWNER_ID, 1, 0x20], 0), None);
    }

    #[test]
    fn a_holder_is_named_only_where_lock_and_owner_agree() {
        let holder = |words| with(words, &wait(WAIT, 2), named).map(|found| found.holder);
        assert_eq!(holder([2, 0, OWNER_ID, 1, 0]), Some(owned()));
        assert_eq!(holder([2, 0, 99, 1, 0]), Some(Holder::Absent(99)));
        // Just locked, or about to be released.
        assert_eq!(holder([2, 0, 0, 0, 0]), Some(Holder::NotRecorded));
        assert_eq!(holder([0, 0, 0, 4, 0]), Some(Holder::Nobody));
        // Robust: locked by the kernel's word, and the owner not stored yet; not consistent; free.
        assert_eq!(holder([WAITERS | OWNER_ID, 0, 0, 0, 0x90]), Some(Holder::NotRecorded));
        assert_eq!(
            holder([WAITERS | OWNER_ID, 0, 0x7fff_ffff, 1, 0x90]),
            Some(Holder::NotRecorded)
        );
        assert_eq!(holder([WAITERS, 0, 0, 0, 0x90]), Some(Holder::Nobody));
    }

    #[test]
    fn what_is_not_in_memory_is_no_mutex() {
        let space = MadeMemory::default().words32(AT, &[2, 0]);
        let identities = Identities::made(&[OWNER_ID]);
        let wait = wait(WAIT, 2);
        let sight = Sight { space: &space, identities: &identities, wait: &wait };
        assert_eq!((proven(&sight), named(&sight)), (None, None));
    }
}
