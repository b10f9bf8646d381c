//! `pthread_rwlock_t` of glibc 2.25 and later (`struct __pthread_rwlock_arch_t`, glibc 2.36
//! `sysdeps/nptl/bits/struct_rwlock.h`, `nptl/pthread_rwlock_common.c`).

use kcore_mem::{Addr, AddressSpace};

use super::{FoundLock, Sight};
use crate::waits::{
    identities::Identities,
    lock::{Holder, LockKind, WaitPurpose},
    word::read32,
};

const PHASE_WORD: i64 = 8;
const WRITERS_WORD: i64 = 12;
const WRITER: i64 = 24;
const SHARED: i64 = 28;
const FLAGS: i64 = 48;

const WRITE_PHASE: u32 = 1;
const WRITE_LOCKED: u32 = 2;
const READERS_WAIT: u32 = 4;
const READERS_SHIFT: u32 = 3;
/// More readers than this are more than a process has threads.
const MAX_READERS: u32 = 1 << 22;

/// The lock that a reader waits for: until a writer is through, or until readers may enter again.
pub fn to_read(sight: &Sight<'_>) -> Option<FoundLock> {
    let offset = match sight.wait.expected {
        3 => PHASE_WORD,
        expected if expected & READERS_WAIT != 0 => 0,
        _ => return None,
    };
    found(sight, offset, WaitPurpose::Read)
}

/// The lock that a writer waits for: as the first one until readers have left, or behind another writer.
pub fn to_write(sight: &Sight<'_>) -> Option<FoundLock> {
    let offset = match sight.wait.expected {
        2 => PHASE_WORD,
        3 => WRITERS_WORD,
        _ => return None,
    };
    found(sight, offset, WaitPurpose::Lock)
}

fn found(sight: &Sight<'_>, offset: i64, purpose: WaitPurpose) -> Option<FoundLock> {
    let at = sight.wait.word.wrapping_offset(offset.wrapping_neg());
    let word = |offset: i64| read32(sight.space, at, offset);
    let is_plausible = at.get().is_multiple_of(8)
        && sight.wait.is_plain()
        && word(SHARED)? <= 1
        && word(FLAGS)? <= 3
        && word(0)? >> READERS_SHIFT <= MAX_READERS;
    let holder = holder(sight.space, at, sight.identities)?;
    is_plausible.then_some(FoundLock { kind: LockKind::ReadWriteLock, at, holder, purpose })
}

/// Who holds it. In a write phase the count is of readers that wait; a writer that has the lock without the phase
/// waits for readers.
fn holder(space: &dyn AddressSpace, at: Addr, identities: &Identities) -> Option<Holder> {
    let readers = read32(space, at, 0)?;
    let count = readers >> READERS_SHIFT;
    Some(match (readers & WRITE_PHASE != 0, readers & WRITE_LOCKED != 0) {
        (true, true) => identities.holder(read32(space, at, WRITER)?),
        (false, _) if count > 0 => Holder::Readers(count),
        _ => Holder::Nobody,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Tid,
        waits::{
            futex::{FutexWait, WAIT_BITSET},
            made_memory::MadeMemory,
        },
    };

    const AT: u64 = 0x1000;

    fn found_at(
        readers: u32,
        writer: u32,
        (offset, expected): (u64, u32),
        look: fn(&Sight<'_>) -> Option<FoundLock>,
    ) -> Option<(u64, Holder, WaitPurpose)> {
        let words = [readers, 0, 1, 3, 0, 0, writer, 0, 0, 0, 0, 0, 2, 0];
        let space = MadeMemory::default().words32(AT, &words);
        let word = Addr::new(AT + offset);
        let wait =
            FutexWait { word, command: WAIT_BITSET, expected, has_limit: false, value: None };
        let identities = Identities::made(&[7]);
        let found = look(&Sight { space: &space, identities: &identities, wait: &wait })?;
        Some((found.at.get(), found.holder, found.purpose))
    }

    #[test]
    fn a_writer_that_holds_it_is_named() {
        let thread = Holder::Thread(Tid::new(7));
        let read = WaitPurpose::Read;
        assert_eq!(found_at(0x13, 7, (8, 3), to_read), Some((AT, thread, read)));
        assert_eq!(found_at(0x03, 7, (12, 3), to_write), Some((AT, thread, WaitPurpose::Lock)));
        assert_eq!(found_at(0x03, 9, (8, 3), to_read), Some((AT, Holder::Absent(9), read)));
        assert_eq!(found_at(0x03, 0, (8, 3), to_read), Some((AT, Holder::NotRecorded, read)));
    }

    #[test]
    fn readers_are_counted_and_not_named() {
        let lock = WaitPurpose::Lock;
        assert_eq!(found_at(0x12, 0, (8, 2), to_write), Some((AT, Holder::Readers(2), lock)));
        assert_eq!(found_at(0x0e, 0, (12, 3), to_write), Some((AT, Holder::Readers(1), lock)));
        let reader = found_at(0x0e, 0, (0, 0x0e), to_read);
        assert_eq!(reader, Some((AT, Holder::Readers(1), WaitPurpose::Read)));
        // A writer of earlier is not the holder.
        assert_eq!(found_at(0x12, 7, (8, 2), to_write), Some((AT, Holder::Readers(2), lock)));
        assert_eq!(found_at(0x02, 0, (8, 2), to_write), Some((AT, Holder::Nobody, lock)));
    }

    #[test]
    fn other_values_are_no_lock() {
        assert_eq!(found_at(0x03, 7, (8, 9), to_write), None);
        assert_eq!(found_at(0x03, 7, (8, 1), to_read), None);
        assert_eq!(found_at(0xffff_ffff, 7, (8, 3), to_read), None);
        assert_eq!(found_at(0x03, 7, (4, 3), to_read), None);
    }
}
