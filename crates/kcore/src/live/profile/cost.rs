//! What a profile costs the process, what it lost, and what happened meanwhile.

use std::time::Duration;

use super::HeldShare;
use crate::Tid;

/// How samples are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Threads are stopped.
    #[default]
    Stops,
    /// Threads are stopped, since the kernel does not let kcore count, for this reason.
    StopsInstead(String),
    /// Threads are stopped, since this runtime's frames cannot be told from the stacks that the kernel copies.
    StopsFor(&'static str),
    /// The kernel takes them while threads run.
    Counters {
        /// Whether time in the kernel counts.
        kernel: bool,
    },
}

/// What happened to the process while it was sampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileChange {
    /// It ended, and the profile with it.
    Ended,
    /// It may not be looked at any more, for this reason, and the profile ended with that.
    Lost(String),
    /// It started another program of this name, which is sampled from then on.
    Program(String),
    /// Its first thread ended; the others are sampled on.
    FirstThread,
    /// Chosen threads ended; the others are sampled on.
    Threads(Vec<Tid>),
    /// The last of the chosen threads ended, and the profile with it.
    NoThreads,
    /// It could not be stopped for a while, for this reason.
    Refused(String),
}

impl ProfileChange {
    /// Whether nothing can be sampled after it.
    pub const fn is_end(&self) -> bool {
        matches!(self, Self::Ended | Self::Lost(_) | Self::NoThreads)
    }
}

/// What a profile costs the process, what it lost, and what happened meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileCost {
    /// How samples were taken.
    pub method: Method,
    /// The name of the program that the process ran last.
    pub program: String,
    /// Samples of threads that were taken.
    pub samples: u64,
    /// How often the process was looked at.
    pub rounds: u64,
    /// Times that it should have been looked at, and was not, since the time before took too long.
    pub missed: u64,
    /// Times that it should have been looked at, and was not, for the sake of the share below.
    pub spared: u64,
    /// Samples of threads that did not stop in time, or whose stack could not be copied.
    pub lost: u64,
    /// Samples with functions of languages that are marked as not certain: their threads may have run on before these
    /// were read, or they cannot be decoded.
    pub doubtful: u64,
    /// Samples of threads that had not run since the last one, and were not stopped.
    pub unstopped: u64,
    /// How often threads of the process were stopped, and how many together for all times.
    pub stops: u64,
    /// Where the kernel took the samples of all threads: how long these were on a processor meanwhile.
    pub ran: Option<Duration>,
    /// Threads that were stopped, together for all stops.
    pub stopped: u64,
    /// How long threads of the process stood still, together for all stops: without what one that was stopped alone
    /// waited for a processor on its way to the stop.
    pub held: Duration,
    /// The longest of these times.
    pub longest: Duration,
    /// The share of the time in which they might stand still.
    pub allowed: HeldShare,
    /// The time that samples stand for, where threads are stopped: the rest is in no count.
    pub covered: Duration,
    /// From the beginning to the end.
    pub elapsed: Duration,
    /// What happened, and when, in the order of time.
    pub changes: Vec<(Duration, ProfileChange)>,
    /// Changes that there was no room for.
    pub more_changes: u64,
}

impl ProfileCost {
    /// Changes that are kept: a process may start another program many times.
    const MAX_CHANGES: usize = 16;

    /// The part of the time in which any thread of the process stood still, from 0 to 1.
    pub fn share_held(&self) -> f64 {
        let elapsed = self.elapsed.as_secs_f64();
        if elapsed > 0.0 { self.held.as_secs_f64() / elapsed } else { 0.0 }
    }

    /// The part of the time that samples stand for, from 0 to 1.
    pub fn share_covered(&self) -> f64 {
        let elapsed = self.elapsed.as_secs_f64();
        let is_counted = matches!(self.method, Method::Counters { .. }) || elapsed <= 0.0;
        if is_counted { 1.0 } else { (self.covered.as_secs_f64() / elapsed).min(1.0) }
    }

    /// Rounds in a second.
    pub fn rate(&self) -> f64 {
        let elapsed = self.elapsed.as_secs_f64();
        if elapsed > 0.0 { self.rounds as f64 / elapsed } else { 0.0 }
    }

    /// Notes a change. Of those that come again and again, as a tracer's, the first counts; an end always has room.
    pub(super) fn note(&mut self, at: Duration, change: ProfileChange) {
        let is_again = matches!(change, ProfileChange::Refused(_))
            && self.changes.iter().any(|(_, known)| *known == change);
        if is_again {
            return;
        }
        if self.changes.len() < Self::MAX_CHANGES || change.is_end() {
            self.changes.push((at, change));
        } else {
            self.more_changes = self.more_changes.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_bounded_and_the_end_is_among_them() {
        let mut cost = ProfileCost::default();
        for index in 0..100 {
            cost.note(Duration::ZERO, ProfileChange::Program(index.to_string()));
        }
        cost.note(Duration::ZERO, ProfileChange::Ended);
        assert_eq!((cost.changes.len(), cost.more_changes), (ProfileCost::MAX_CHANGES + 1, 84));
        assert_eq!(cost.changes.last().unwrap().1, ProfileChange::Ended);
    }

    #[test]
    fn the_share_that_counts_cover_is_that_of_stops() {
        let (elapsed, covered) = (Duration::from_secs(6), Duration::from_millis(600));
        let cost = ProfileCost { elapsed, covered, ..ProfileCost::default() };
        assert!((cost.share_covered() - 0.1).abs() < 1e-9);
        let all = ProfileCost { method: Method::Counters { kernel: true }, ..cost };
        assert!((all.share_covered() - 1.0).abs() < 1e-9);
        assert!((ProfileCost::default().share_covered() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_refusal_that_comes_again_is_told_once() {
        let mut cost = ProfileCost::default();
        (0..3).for_each(|_| cost.note(Duration::ZERO, ProfileChange::Refused("traced".to_owned())));
        assert_eq!(cost.changes.len(), 1);
    }
}
