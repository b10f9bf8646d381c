//! Objects that threads wait for, one a file: where they lie around their futex words, and what these say.

pub mod barrier;
pub mod condition;
pub mod join;
pub mod musl;
pub mod mutex;
pub mod once;
pub mod rust;
pub mod rwlock;
pub mod semaphore;
pub mod static_guard;
pub mod stream;

use kcore_mem::{Addr, AddressSpace};

use super::{
    futex::FutexWait,
    identities::Identities,
    lock::{Holder, LockKind, WaitPurpose},
};

/// What a decoder looks at.
pub struct Sight<'a> {
    /// Memory of the process.
    pub space: &'a dyn AddressSpace,
    /// Its threads.
    pub identities: &'a Identities,
    /// The wait.
    pub wait: &'a FutexWait,
}

/// An object around a futex word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundLock {
    /// What it is.
    pub kind: LockKind,
    /// Where it lies.
    pub at: Addr,
    /// Who holds it.
    pub holder: Holder,
    /// For what the thread waits.
    pub purpose: WaitPurpose,
}

impl FoundLock {
    /// An object that nobody holds.
    pub const fn event(kind: LockKind, at: Addr) -> Self {
        Self { kind, at, holder: Holder::Nobody, purpose: WaitPurpose::Event }
    }

    /// An object that is to be held alone.
    pub const fn held(kind: LockKind, at: Addr, holder: Holder) -> Self {
        Self { kind, at, holder, purpose: WaitPurpose::Lock }
    }
}

impl Identities {
    /// The holder that memory names by an id.
    pub fn holder(&self, id: u32) -> Holder {
        match id {
            0 => Holder::NotRecorded,
            id => self.thread(id).map_or(Holder::Absent(id), Holder::Thread),
        }
    }
}
