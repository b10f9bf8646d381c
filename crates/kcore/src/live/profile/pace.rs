//! When the next sample is due.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

/// How long is slept at most before it is looked whether somebody ended it.
const NAP: Duration = Duration::from_millis(50);

/// When the next sample is due: once in each interval, at a moment of it that chance chooses. What the
/// process itself does at regular times would else be seen always or never.
#[derive(Debug)]
pub struct Pace {
    start: Instant,
    interval: Duration,
    /// Intervals that are over.
    over: u64,
    random: u64,
}

impl Pace {
    /// So many samples a second from now on.
    pub fn new(start: Instant, frequency: u32) -> Self {
        let interval = Duration::from_nanos(1_000_000_000 / u64::from(frequency.max(1)));
        let seed = std::process::id();
        Self { start, interval, over: 0, random: u64::from(seed) | 1 << 32 }
    }

    /// The time between two samples, in the mean.
    pub const fn interval(&self) -> Duration {
        self.interval
    }

    /// Waits for the next sample. The answer is how many were missed meanwhile.
    pub fn wait(&mut self, stop: &AtomicBool) -> u64 {
        self.over = self.over.saturating_add(1);
        let passed = self.start.elapsed().as_nanos().checked_div(self.interval.as_nanos().max(1));
        let passed = u64::try_from(passed.unwrap_or_default()).unwrap_or(u64::MAX);
        let missed = passed.saturating_sub(self.over);
        self.over = self.over.saturating_add(missed);
        let due = self.due();
        while Instant::now() < due && !stop.load(Ordering::Relaxed) {
            thread::sleep(due.saturating_duration_since(Instant::now()).min(NAP));
        }
        missed
    }

    /// A moment of the interval that comes.
    fn due(&mut self) -> Instant {
        // xorshift
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let nanos = u64::try_from(self.interval.as_nanos()).unwrap_or(u64::MAX).max(1);
        let begin = nanos.saturating_mul(self.over);
        let within = self.random.checked_rem(nanos).unwrap_or_default();
        let since = Duration::from_nanos(begin.saturating_add(within));
        self.start.checked_add(since).unwrap_or(self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_due_in_every_interval() {
        let start = Instant::now();
        let mut pace = Pace::new(start, 1000);
        for over in 0..100_u32 {
            pace.over = u64::from(over);
            let due = pace.due().duration_since(start);
            let begin = Duration::from_millis(1) * over;
            assert!(due >= begin && due < begin + Duration::from_millis(1), "{over}: {due:?}");
        }
    }

    #[test]
    fn what_was_missed_is_counted() {
        let start = Instant::now().checked_sub(Duration::from_millis(105)).unwrap();
        let mut pace = Pace::new(start, 100);
        let missed = pace.wait(&AtomicBool::new(true));
        assert!(missed >= 9, "{missed}");
    }
}
