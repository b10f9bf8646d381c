//! What a profile costs the process, and what it lost.

use std::time::Duration;

/// How samples are taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Threads are stopped.
    #[default]
    Stops,
    /// Threads are stopped, since the kernel does not let kcore count, for this reason.
    StopsInstead(String),
    /// The kernel takes them while threads run.
    Counters {
        /// Whether time in the kernel counts.
        kernel: bool,
    },
}

/// What a profile costs the process, and what it lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileCost {
    /// How samples were taken.
    pub method: Method,
    /// How often the process was looked at.
    pub rounds: u64,
    /// Times that it should have been looked at, and was not, since the time before took too long.
    pub missed: u64,
    /// Samples of threads that did not stop in time, or whose stack could not be copied.
    pub lost: u64,
    /// Samples of threads that had not run since the last one, and were not stopped.
    pub unstopped: u64,
    /// How long threads of the process stood still, together for all rounds.
    pub held: Duration,
    /// The longest of these times.
    pub longest: Duration,
    /// From the beginning to the end.
    pub elapsed: Duration,
}

impl ProfileCost {
    /// The part of the time in which any thread of the process stood still, from 0 to 1.
    pub fn share_held(&self) -> f64 {
        let elapsed = self.elapsed.as_secs_f64();
        if elapsed > 0.0 { self.held.as_secs_f64() / elapsed } else { 0.0 }
    }
}
