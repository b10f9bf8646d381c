//! When a live process was copied, and what that cost it.

use std::time::Duration;

use crate::{Core, Tid};

/// When a live process was copied, and what that cost it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveFacts {
    /// Whether each thread was copied at an instant of its own.
    pub rolling: bool,
    /// How long the process stood still for this snapshot; of a rolling one, the longest of its
    /// threads.
    pub stopped: Duration,
    /// How long a thread stood still, in the median.
    pub median: Duration,
    /// How long it stood still before, to learn what is to be copied; empty most often.
    pub before: Vec<Duration>,
    /// Threads that did not stop in time.
    pub late_threads: Vec<Tid>,
    /// Whether the time was over before all was copied.
    pub is_late: bool,
    /// Whether some of what stacks need was not copied, since it changed from one look to the next.
    pub is_partial: bool,
}

impl Core {
    /// When the live process was copied, and what that cost it; `None` for a core.
    pub fn live_facts(&self) -> Option<LiveFacts> {
        let live = self.live()?;
        let file = self.file()?;
        let taken = file.snapshot()?;
        let before = live.stops.split_last().map(|(_, before)| before.to_vec());
        Some(LiveFacts {
            rolling: taken.rolling,
            stopped: taken.stopped,
            median: taken.median,
            before: before.unwrap_or_default(),
            late_threads: file.late_threads().iter().copied().map(Tid::new).collect(),
            is_late: taken.late,
            is_partial: live.is_partial,
        })
    }

    /// What instant its stacks are of: `core`, `snapshot` (all of one instant) or `rolling` (each of
    /// its own).
    pub fn instant(&self) -> &'static str {
        match self.file().and_then(|file| file.snapshot()) {
            Some(taken) if taken.rolling => "rolling",
            Some(_) if self.live().is_some() => "snapshot",
            _ => "core",
        }
    }
}
