//! Threads that wait for each other.

use std::collections::BTreeSet;

use super::{Holder, Waits};
use crate::Tid;

impl Waits {
    /// The thread that holds what another one waits for, as memory records.
    pub fn blocker(&self, tid: Tid) -> Option<Tid> {
        match self.lock_of(tid)?.holder {
            Holder::Thread(holder) => Some(holder),
            _ => None,
        }
    }

    /// The circles of threads each of which waits for what the next one holds. Each begins with its lowest thread.
    pub fn cycles(&self) -> Vec<Vec<Tid>> {
        let mut seen = BTreeSet::new();
        let starts = self.waits_for.keys();
        starts.filter_map(|start| self.cycle_from(*start, &mut seen)).collect()
    }

    /// The circle that a thread leads to, if none of its threads was seen before.
    fn cycle_from(&self, start: Tid, seen: &mut BTreeSet<Tid>) -> Option<Vec<Tid>> {
        let (mut path, mut next) = (Vec::new(), Some(start));
        while let Some(tid) = next {
            if !seen.insert(tid) {
                let first = path.iter().position(|it| *it == tid)?;
                return Some(from_lowest(path.split_off(first)));
            }
            path.push(tid);
            next = self.blocker(tid);
        }
        None
    }
}

fn from_lowest(mut cycle: Vec<Tid>) -> Vec<Tid> {
    let lowest = cycle.iter().enumerate().min_by_key(|(_, tid)| **tid).map(|(at, _)| at);
    cycle.rotate_left(lowest.unwrap_or_default());
    cycle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::waits::{Lock, LockKind, LockProof, LockWaiter, WaitPurpose};
    use kcore_mem::Addr;

    /// Who waits for what is held by whom.
    fn waits(edges: &[(u32, u32)]) -> Waits {
        let locks = (1..).zip(edges).map(|(at, (waiter, holder))| Lock {
            kind: LockKind::ReadWriteLock,
            at: Addr::new(at * 0x100),
            word: Addr::new(at * 0x100),
            value: None,
            holder: Holder::Thread(Tid::new(*holder)),
            proof: LockProof::Words,
            waiters: vec![LockWaiter {
                tid: Tid::new(*waiter),
                purpose: WaitPurpose::Lock,
                has_limit: false,
                is_unchanged: true,
            }],
        });
        Waits { locks: locks.collect(), ..Waits::default() }.sort()
    }

    fn cycles(edges: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let cycles = waits(edges).cycles();
        cycles.iter().map(|cycle| cycle.iter().map(|tid| tid.get()).collect()).collect()
    }

    #[test]
    fn a_circle_is_found_once_from_wherever_it_is_reached() {
        assert_eq!(cycles(&[(1, 3), (2, 3), (3, 5), (4, 3), (5, 4)]), [[3, 5, 4]]);
        assert_eq!(cycles(&[(2, 1), (1, 2), (9, 8), (8, 9)]), [[1, 2], [8, 9]]);
        assert_eq!(cycles(&[(7, 7)]), [[7]]);
    }

    #[test]
    fn a_chain_that_ends_is_none() {
        assert!(cycles(&[(1, 2), (2, 3), (4, 2)]).is_empty());
    }
}
