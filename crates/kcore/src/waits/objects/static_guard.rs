//! The guard of a static variable of libstdc++: byte 0 says that it is initialized, byte 1 that a thread is
//! initializing it, byte 2 that others wait (`libsupc++/guard.cc`, GCC 12). No owner.

use super::{FoundLock, Sight};
use crate::waits::lock::{Holder, LockKind};

/// What the word holds while a thread initializes the variable and others wait.
const WAITED_FOR: u32 = 0x1_0100;

/// The guard at a word at which a thread waits for one.
pub fn named(sight: &Sight<'_>) -> Option<FoundLock> {
    let is_wait = sight.wait.is_plain() && sight.wait.expected == WAITED_FOR;
    let holder = if sight.wait.is_unchanged() { Holder::NotRecorded } else { Holder::Nobody };
    is_wait
        .then(|| FoundLock { holder, ..FoundLock::event(LockKind::StaticGuard, sight.wait.word) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::{futex::FutexWait, identities::Identities, made_memory::MadeMemory};
    use kcore_mem::Addr;

    #[test]
    fn a_guard_is_being_run_or_done() {
        let holder = |expected, value| {
            let word = Addr::new(0x1000);
            let wait = FutexWait { word, command: 0, expected, has_limit: false, value };
            let (space, identities) = (MadeMemory::default(), Identities::default());
            let found = named(&Sight { space: &space, identities: &identities, wait: &wait });
            found.map(|found| found.holder)
        };
        assert_eq!(holder(WAITED_FOR, Some(WAITED_FOR)), Some(Holder::NotRecorded));
        assert_eq!(holder(WAITED_FOR, Some(1)), Some(Holder::Nobody));
        assert_eq!(holder(2, Some(2)), None);
    }
}
