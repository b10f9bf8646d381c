//! Who waits for what, and who holds it.
//!
//! A thread waits if its registers prove that it is blocked in a system call. What a futex belongs to is told by its
//! own words, by the function of a library that waits there, or by the call of that function; where none of them
//! proves it, it is no more than a word. An owner is named only if memory records it.

mod blocked;
mod cycles;
mod function;
mod futex;
mod identities;
mod lock;
#[cfg(test)]
pub mod made_memory;
mod objects;
mod recognize;

mod site;
mod word;

use std::collections::BTreeMap;

use kcore_mem::Addr;

use self::{blocked::BlockedCall, futex::FutexWait, identities::Identities, recognize::Recognizer};
pub use self::{
    blocked::KernelWait,
    lock::{Holder, Lock, LockKind, LockProof, LockWaiter, MutexKind, MutexType, WaitPurpose},
};
use crate::{Core, Tid, arch::facts};

/// What the threads of a process wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waits {
    /// What threads wait for that other threads are to free, signal or end. The one with the most waiters first.
    pub locks: Vec<Lock>,
    /// The threads that wait in the kernel for something else, in the order of the core's threads.
    pub kernel: Vec<KernelWait>,
    /// Whether it is known how a thread of this machine is blocked in a system call. Else nothing is known of what
    /// threads wait for.
    pub knows_blocked: bool,
    /// Whether each thread of the process is known by the id that it has in the process's own memory.
    pub knows_all_threads: bool,
    /// By thread, the place among `locks` of what it waits for.
    waits_for: BTreeMap<Tid, usize>,
}

impl Waits {
    /// What a thread waits for.
    pub fn lock_of(&self, tid: Tid) -> Option<&Lock> {
        self.locks.get(*self.waits_for.get(&tid)?)
    }

    /// How a thread waits for a lock.
    pub fn waiter(&self, tid: Tid) -> Option<&LockWaiter> {
        self.lock_of(tid)?.waiters.iter().find(|waiter| waiter.tid == tid)
    }

    /// The system call that a thread waits in for something else than a lock.
    pub fn kernel_wait(&self, tid: Tid) -> Option<&KernelWait> {
        self.kernel.iter().find(|wait| wait.tid == tid)
    }

    fn add(&mut self, found: &mut BTreeMap<(Addr, Addr), usize>, lock: Lock, waiter: LockWaiter) {
        // Waiters of one object wait on several of its words.
        let word = if lock.kind.has_one_word() { lock.word } else { Addr::default() };
        let key = (lock.at, word);
        let index = *found.entry(key).or_insert(self.locks.len());
        if index == self.locks.len() {
            self.locks.push(lock);
        }
        if let Some(lock) = self.locks.get_mut(index) {
            lock.waiters.push(waiter);
        }
    }

    fn sort(mut self) -> Self {
        self.locks.sort_by_key(|lock| (std::cmp::Reverse(lock.waiters.len()), lock.at));
        let indexed = self.locks.iter().enumerate();
        let tids = indexed.flat_map(|(at, lock)| lock.waiters.iter().map(move |it| (it.tid, at)));
        self.waits_for = tids.collect();
        self
    }
}

impl Core {
    /// What each thread waits for, as far as it is proven. A thread that runs, or whose registers do not prove that
    /// it is blocked, waits for nothing. It is found out once.
    pub fn waits(&self) -> &Waits {
        self.waits.get_or_build(self.budget(), || self.find_waits())
    }

    fn find_waits(&self) -> Waits {
        let identities = Identities::of(self);
        let mut recognizer = Recognizer::new(self, &identities);
        let mut waits = Waits {
            knows_blocked: facts(self.target()).calls.is_some(),
            knows_all_threads: identities.is_complete(),
            ..Waits::default()
        };
        let mut found = BTreeMap::new();
        for tid in self.tids() {
            if self.budget().halt().is_some() {
                waits.knows_all_threads = false;
                break;
            }
            let Some(call) = BlockedCall::of(self, tid) else { continue };
            match FutexWait::of(self, &call) {
                Some(futex) => {
                    let (lock, waiter) = recognizer.recognize(tid, &futex);
                    waits.add(&mut found, lock, waiter);
                }
                None => waits.kernel.push(call.as_kernel_wait(tid)),
            }
        }
        waits.sort()
    }
}
