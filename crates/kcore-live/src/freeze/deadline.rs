//! How long a process may stand still.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::sys::signals;

/// Until when a process may stand still: for a time, and no longer than somebody wants it to.
#[derive(Clone, Copy, Debug)]
pub struct Deadline<'a> {
    at: Instant,
    stop: Option<&'a AtomicBool>,
}

impl<'a> Deadline<'a> {
    /// So much later than now, or once `stop` is set.
    pub fn after(time: Duration, stop: Option<&'a AtomicBool>) -> Self {
        Self { at: after(time), stop }
    }

    /// The same, but not later than so much after now.
    pub fn within(self, time: Duration) -> Self {
        Self { at: self.at.min(after(time)), ..self }
    }

    /// The same, and once this flag is set as well.
    pub const fn or_once(self, stop: Option<&'a AtomicBool>) -> Self {
        Self { stop: if stop.is_some() { stop } else { self.stop }, ..self }
    }

    /// When the time is over.
    pub const fn at(&self) -> Instant {
        self.at
    }

    /// Whether somebody wants it to end, by the flag or by a signal that waits.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) || signals::wait_to_end()
    }

    /// Whether the time is over, or somebody wants it to be.
    pub fn is_over(&self) -> bool {
        Instant::now() > self.at || self.is_stopped()
    }
}

/// The instant so much later than now. Who names more time than there is wants no end.
pub fn after(time: Duration) -> Instant {
    const YEARS: Duration = Duration::from_secs(1 << 32);
    let now = Instant::now();
    now.checked_add(time.min(YEARS)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_over_after_its_time_or_when_somebody_says_so() {
        let stop = AtomicBool::new(false);
        let long = Deadline::after(Duration::MAX, Some(&stop));
        assert!(!long.is_over() && long.within(Duration::ZERO).at() < long.at());
        assert!(long.within(Duration::MAX).at() <= long.at());
        stop.store(true, Ordering::Relaxed);
        assert!(long.is_over() && long.is_stopped());
    }
}
