//! What a profile of several processes has of each, and which it has not.

use std::time::Duration;

use kcore_live::Pid;

use super::super::ProfileCost;

/// A process of a profile of several, and what that cost it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessCost {
    /// Its id. Another process of the profile may have had it before.
    pub pid: Pid,
    /// When its own profile began, since that of all did.
    pub from: Duration,
    /// How many threads were sampled.
    pub threads: usize,
    /// What it cost the process, and its name. Times are since its own profile began.
    pub cost: ProfileCost,
}

/// A process that could not be sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedProcess {
    /// Its id.
    pub pid: Pid,
    /// Its name, as it was when it was found.
    pub name: String,
    /// Why, in words.
    pub reason: String,
}

/// What a profile of several processes has of each, and which it has not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessesCost {
    /// From the beginning to the end.
    pub elapsed: Duration,
    /// Samples of threads that were taken, of all processes.
    pub samples: u64,
    /// Processes that were sampled, in the order of time.
    pub processes: Vec<ProcessCost>,
    /// Processes that were sampled, and that there was no room for above.
    pub more_processes: u64,
    /// Processes that could not be sampled.
    pub refused: Vec<RefusedProcess>,
    /// Processes that could not be sampled, and that there was no room for above.
    pub more_refused: u64,
    /// Processes that were found, and ended before a sample of them could be taken.
    pub unseen: u64,
    /// How many processes were not sampled at a time, at most, since too many others were.
    pub crowded: u64,
    /// How many processes are sampled at a time, at most.
    pub at_once: usize,
    /// Whether no more processes were followed at last, since there had been too many.
    pub is_full: bool,
    /// Samples that there was no room for when the profiles of all processes became one.
    pub no_room: u64,
}

impl ProcessesCost {
    /// Processes that are kept one by one.
    const MAX_PROCESSES: usize = 4096;
    /// Refusals that are kept one by one.
    const MAX_REFUSED: usize = 64;

    /// Notes what one process cost.
    pub(super) fn add(&mut self, process: ProcessCost) {
        self.samples = self.samples.saturating_add(process.cost.samples);
        if self.processes.len() < Self::MAX_PROCESSES {
            self.processes.push(process);
        } else {
            self.more_processes = self.more_processes.saturating_add(1);
        }
    }

    /// Notes that one could not be sampled.
    pub(super) fn refuse(&mut self, refused: RefusedProcess) {
        if self.refused.len() < Self::MAX_REFUSED {
            self.refused.push(refused);
        } else {
            self.more_refused = self.more_refused.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_no_room_for_is_counted() {
        let mut all = ProcessesCost::default();
        let one = RefusedProcess { pid: Pid::new(7), name: String::new(), reason: String::new() };
        (0..100).for_each(|_| all.refuse(one.clone()));
        assert_eq!((all.refused.len(), all.more_refused), (ProcessesCost::MAX_REFUSED, 36));
        let cost = ProfileCost { samples: 2, ..ProfileCost::default() };
        let one = ProcessCost { pid: Pid::new(7), from: Duration::ZERO, threads: 1, cost };
        (0..5000).for_each(|_| all.add(one.clone()));
        assert_eq!((all.samples, all.more_processes), (10_000, 904));
    }
}
