//! What the threads of a process are blocked in, counted.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::{Core, Waits};

/// Threads that are blocked alike.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedThreads {
    /// What they wait for or in: the kind of a lock, such as `condition variable`, or a system call: `read(fd 3)`.
    pub what: String,
    /// How many they are.
    pub threads: usize,
}

/// What threads are blocked in, the most first. Those that run are not among them.
pub fn blocked_threads(core: &Core) -> Vec<BlockedThreads> {
    let waits = core.waits();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (what, threads) in of_locks(waits).chain(of_kernel(waits)) {
        let count = counts.entry(what).or_default();
        *count = count.saturating_add(threads);
    }
    let counted = counts.into_iter().map(|(what, threads)| BlockedThreads { what, threads });
    let mut all: Vec<_> = counted.collect();
    all.sort_by_key(|blocked| Reverse(blocked.threads));
    all
}

fn of_locks(waits: &Waits) -> impl Iterator<Item = (String, usize)> {
    waits.locks.iter().map(|lock| (lock.kind.spelled(), lock.waiters.len()))
}

fn of_kernel(waits: &Waits) -> impl Iterator<Item = (String, usize)> {
    waits.kernel.iter().map(|wait| (wait.spelled(), 1))
}
