//! Locks of Rust's standard library on futexes, since 1.62 (`library/std/src/sys/sync/*/futex.rs`, 1.95). None of
//! them records its owner.

use super::{FoundLock, Sight};
use crate::waits::{
    lock::{Holder, LockKind, WaitPurpose},
    word::read32,
};

/// The word of a `Mutex` that threads wait for.
const CONTENDED: u32 = 2;
/// The bits of a `RwLock` that count readers; all of them are set while a writer has it.
const READERS: u32 = 0x3fff_ffff;
/// The word that writers wait on lies behind the state.
const WRITERS: i64 = 4;
/// The word of a thread that is parked.
const PARKED: u32 = u32::MAX;

/// A `Mutex`.
pub fn mutex(sight: &Sight<'_>) -> Option<FoundLock> {
    let held = if sight.wait.value == Some(0) { Holder::Nobody } else { Holder::NotRecorded };
    let holder = sight.wait.value.map_or(Holder::Unknown, |_| held);
    let is_wait = sight.wait.is_plain() && sight.wait.expected == CONTENDED;
    is_wait.then(|| FoundLock::held(LockKind::RustMutex, sight.wait.word, holder))
}

/// A `RwLock` that a reader waits for.
pub fn to_read(sight: &Sight<'_>) -> Option<FoundLock> {
    rwlock(sight, 0, WaitPurpose::Read)
}

/// A `RwLock` that a writer waits for.
pub fn to_write(sight: &Sight<'_>) -> Option<FoundLock> {
    rwlock(sight, WRITERS, WaitPurpose::Lock)
}

fn rwlock(sight: &Sight<'_>, offset: i64, purpose: WaitPurpose) -> Option<FoundLock> {
    let at = sight.wait.word.wrapping_offset(offset.wrapping_neg());
    let holder = match read32(sight.space, at, 0).map(|state| state & READERS) {
        None => Holder::Unknown,
        Some(0) => Holder::Nobody,
        Some(READERS) => Holder::NotRecorded,
        Some(readers) => Holder::Readers(readers),
    };
    let found = FoundLock { kind: LockKind::RustRwLock, at, holder, purpose };
    sight.wait.is_plain().then_some(found)
}

/// A `Condvar`.
pub fn condvar(sight: &Sight<'_>) -> Option<FoundLock> {
    sight.wait.is_plain().then(|| FoundLock::event(LockKind::RustCondvar, sight.wait.word))
}

/// A `Once`.
pub fn once(sight: &Sight<'_>) -> Option<FoundLock> {
    let unchanged = sight.wait.is_unchanged();
    let holder = if unchanged { Holder::NotRecorded } else { Holder::Unknown };
    let found = FoundLock { holder, ..FoundLock::event(LockKind::RustOnce, sight.wait.word) };
    sight.wait.is_plain().then_some(found)
}

/// The lock that a thread waits for in `thread::park`.
pub fn parker(sight: &Sight<'_>) -> Option<FoundLock> {
    let is_wait = sight.wait.is_plain() && sight.wait.expected == PARKED;
    is_wait.then(|| FoundLock::event(LockKind::RustParker, sight.wait.word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::{futex::FutexWait, identities::Identities, made_memory::MadeMemory};
    use kcore_mem::Addr;

    fn found(
        look: fn(&Sight<'_>) -> Option<FoundLock>,
        (word, expected): (u64, u32),
        words: &[u32],
    ) -> Option<(u64, Holder)> {
        let space = MadeMemory::default().words32(0x1000, words);
        let word = Addr::new(word);
        let value = read32(&space, word, 0);
        let wait = FutexWait { word, command: 9, expected, has_limit: false, value };
        let identities = Identities::default();
        let found = look(&Sight { space: &space, identities: &identities, wait: &wait })?;
        Some((found.at.get(), found.holder))
    }

    #[test]
    fn a_mutex_is_held_by_somebody_or_free() {
        assert_eq!(found(mutex, (0x1000, 2), &[2]), Some((0x1000, Holder::NotRecorded)));
        assert_eq!(found(mutex, (0x1000, 2), &[0]), Some((0x1000, Holder::Nobody)));
        assert_eq!(found(mutex, (0x1000, 2), &[]), Some((0x1000, Holder::Unknown)));
        assert_eq!(found(mutex, (0x1000, 7), &[7]), None);
    }

    #[test]
    fn readers_of_a_rwlock_are_counted() {
        let written = [0x7fff_ffff, 1];
        assert_eq!(
            found(to_read, (0x1000, 0x7fff_ffff), &written),
            Some((0x1000, Holder::NotRecorded))
        );
        let read = [0x8000_0002, 1];
        assert_eq!(found(to_write, (0x1004, 1), &read), Some((0x1000, Holder::Readers(2))));
        assert_eq!(found(to_write, (0x1004, 1), &[0x8000_0000, 1]), Some((0x1000, Holder::Nobody)));
    }

    #[test]
    fn a_parked_thread_waits_on_a_word_of_its_own() {
        assert_eq!(found(parker, (0x1000, PARKED), &[PARKED]), Some((0x1000, Holder::Nobody)));
        assert_eq!(found(parker, (0x1000, 1), &[1]), None);
    }
}
