//! Threads that wait for each other.

use std::collections::BTreeMap;

use kcore_mem::Addr;

use super::{
    lock_thread::LockThread,
    locks::{JavaLock, WaitReason},
};

/// A thread with the lock that it waits for.
type Wanting<'a> = (&'a LockThread, &'a JavaLock);

/// Threads that wait for each other in circles, each circle once: every thread with what it waits for, which the next one
/// holds.
pub fn circles(locks: &[JavaLock]) -> Vec<Vec<(LockThread, Addr)>> {
    let mut wants: BTreeMap<Addr, Wanting<'_>> = BTreeMap::new();
    for lock in locks {
        let blocked = lock.waiters.iter().filter(|waiter| waiter.reason != WaitReason::Notify);
        wants.extend(blocked.map(|waiter| (waiter.thread.at(), (&waiter.thread, lock))));
    }
    let mut search =
        Search { wants: &wants, done: Default::default(), path: Vec::new(), circles: Vec::new() };
    wants.keys().for_each(|first| search.from(*first));
    search.circles
}

/// Follows who waits for whom.
struct Search<'a> {
    wants: &'a BTreeMap<Addr, Wanting<'a>>,
    /// Threads that were looked at: what another way has passed leads to no other circle.
    done: std::collections::BTreeSet<Addr>,
    /// The threads on the way, each with those that it waits for and that were not looked at yet.
    path: Vec<(Addr, Vec<Addr>)>,
    circles: Vec<Vec<(LockThread, Addr)>>,
}

impl Search<'_> {
    fn from(&mut self, first: Addr) {
        self.enter(first);
        while let Some((_, left)) = self.path.last_mut() {
            match left.pop() {
                Some(next) => self.meet(next),
                None => {
                    self.path.pop();
                }
            }
        }
    }

    fn enter(&mut self, thread: Addr) {
        if self.done.insert(thread) {
            let holders = self.wants.get(&thread).map(|(_, lock)| holders(lock));
            self.path.push((thread, holders.unwrap_or_default()));
        }
    }

    fn meet(&mut self, thread: Addr) {
        let start = self.path.iter().position(|(own, _)| *own == thread);
        match start.and_then(|start| self.path.get(start..)) {
            Some(circle) => {
                let wanted = |(at, _): &(Addr, Vec<Addr>)| {
                    self.wants.get(at).map(|(thread, lock)| ((*thread).clone(), lock.object))
                };
                self.circles.push(circle.iter().filter_map(wanted).collect());
            }
            None => self.enter(thread),
        }
    }
}

/// Who holds a lock, the last one first.
fn holders(lock: &JavaLock) -> Vec<Addr> {
    let all = lock.owner.iter().chain(&lock.readers);
    let mut all: Vec<Addr> = all.map(LockThread::at).collect();
    all.reverse();
    all
}
