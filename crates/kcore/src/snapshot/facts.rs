//! When a live process was copied, and what that cost it.

use std::time::Duration;

use kcore_elf::core_file::Instants;

use crate::{SnapshotView, Tid};

/// When a live process was copied, and what that cost it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveFacts {
    /// Of what instants the snapshot is.
    pub instants: Instants,
    /// How long the process stood still for this snapshot; of one that has an instant of each thread, the
    /// longest of its threads.
    pub stopped: Duration,
    /// How long a thread stood still, in the median.
    pub median: Duration,
    /// How long it stood still before, to learn what is to be copied; empty most often. Nothing of those
    /// copies is in the snapshot.
    pub before: Vec<Duration>,
    /// What the monotonic clock of the process stood at when it was stopped, if that is known.
    pub clock: Option<Duration>,
    /// Threads that did not stop in time.
    pub late_threads: Vec<Tid>,
    /// Whether the time was over before all was copied.
    pub is_late: bool,
    /// Pages that stacks, or names of their frames, need and that were not copied.
    pub missed_pages: u64,
    /// Whether what was not copied is read from the live process, at the time when it is asked for.
    pub reads_later: bool,
    /// The event at whose moment it was copied, with the thread's id as the process itself sees it: see
    /// [`crate::LiveOptions::when`].
    #[cfg(feature = "live")]
    pub caught: Option<crate::Caught>,
}

impl SnapshotView<'_> {
    /// When the live process was copied, and what that cost it; `None` for a core.
    pub fn facts(self) -> Option<LiveFacts> {
        let live = self.core.live()?;
        let file = self.core.file()?;
        let taken = file.snapshot()?;
        let before = live.stops.split_last().map(|(_, before)| before.to_vec());
        Some(LiveFacts {
            instants: taken.instants,
            stopped: taken.stopped,
            median: taken.median,
            clock: taken.clock,
            before: before.unwrap_or_default(),
            late_threads: file.late_threads().iter().copied().map(Tid::new).collect(),
            is_late: taken.late,
            missed_pages: live.missed_pages,
            reads_later: live.reads_later,
            #[cfg(feature = "live")]
            caught: live.caught.clone(),
        })
    }

    /// What was done with memory that it holds: `dumped` into a core, `copied` into a snapshot.
    pub fn kept_word(self) -> &'static str {
        if self.core.live().is_some() { "copied" } else { "dumped" }
    }

    /// Whether memory of the live process was read since this was asked last, and so is of a later instant
    /// than the snapshot.
    pub fn has_read_later(self) -> bool {
        let pages = self.core.live().and_then(|live| live.pages.as_ref());
        pages.is_some_and(|pages| pages.take_use())
    }

    /// What instant its stacks are of: `core`; `snapshot` (all of one instant), `chosen` (those of chosen
    /// threads, while the others ran), `rolling` (each of its own), `live` (some of what they need was read
    /// later).
    pub fn instant(self) -> &'static str {
        let Some(taken) = self.core.file().and_then(|file| file.snapshot()) else { return "core" };
        match (taken.instants, self.core.live()) {
            (_, Some(live)) if live.missed_pages > 0 && live.reads_later => "live",
            (Instants::One, Some(_)) => "snapshot",
            (Instants::One, None) => "core",
            (Instants::OneOfChosen, _) => "chosen",
            (Instants::Each, _) => "rolling",
        }
    }
}
