//! In what order threads are stopped.
//!
//! A thread that waits does not notice that it stands still, unless what it waits for comes just then; one
//! that runs notices at once. To stop a thread, and to let it go, takes the system as long for either. So
//! those that wait are stopped first, while the others still run, and are let go last.

use std::collections::HashMap;

use super::ThreadStatus;

/// Threads by what they did a moment ago.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Those that waited: they are stopped first.
    pub waiting: Vec<i32>,
    /// Those that ran, or of which nothing is known.
    pub running: Vec<i32>,
}

impl Order {
    /// By what the system said of threads.
    pub fn of(tids: &[i32], said: &HashMap<i32, ThreadStatus>) -> Self {
        let waits = |tid: &i32| said.get(tid).is_some_and(|said| said.stat.state != 'R');
        let (waiting, running) = tids.iter().partition(|tid| waits(tid));
        Self { waiting, running }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.waiting.len().saturating_add(self.running.len())
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = i32> {
        self.waiting.iter().chain(&self.running).copied()
    }

    /// The share of one of so many tracers.
    pub fn share(&self, index: usize, tracers: usize) -> Self {
        let part = |tids: &[i32]| {
            let size = tids.len().div_ceil(tracers).max(1);
            tids.chunks(size).nth(index).unwrap_or_default().to_vec()
        };
        Self { waiting: part(&self.waiting), running: part(&self.running) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskStat;

    #[test]
    fn every_thread_is_in_one_share() {
        let line = |state| format!("1 (x) {state} 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
        let stat = |state| TaskStat::parse(line(state).as_bytes()).unwrap();
        let said = [(1, 'S'), (2, 'R'), (3, 'D'), (4, 'S')];
        let said =
            said.map(|(tid, state)| (tid, ThreadStatus { stat: stat(state), inner_tid: None }));
        let order = Order::of(&[1, 2, 3, 4, 5], &said.into_iter().collect());
        assert_eq!(order, Order { waiting: vec![1, 3, 4], running: vec![2, 5] });
        let shares = [0, 1].map(|index| order.share(index, 2));
        assert_eq!(shares[0], Order { waiting: vec![1, 3], running: vec![2] });
        assert_eq!(shares[1], Order { waiting: vec![4], running: vec![5] });
        assert_eq!(Order::default().share(1, 2).len(), 0);
    }
}
