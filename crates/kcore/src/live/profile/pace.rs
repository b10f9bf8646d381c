//! When the next round is due.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

/// How long is slept at most before it is looked whether somebody ended it.
const NAP: Duration = Duration::from_millis(50);

/// When the next round is due: once in each interval, at a moment of it that chance chooses. What the
/// process itself does at regular times would else be seen always or never.
///
/// Where rounds may not follow each other as fast, one stands for several intervals, and is due at any moment of
/// them: so the shares of what is seen stay those of the time, whatever made rounds rarer.
#[derive(Debug)]
pub struct Pace {
    start: Instant,
    duration: Duration,
    interval: Duration,
    /// Intervals that are over, or that the round that comes stands for.
    over: u64,
    /// The first interval that no round was taken of.
    begin: u64,
    random: u64,
}

/// What a wait came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Rounds that were missed, since the one before took too long.
    pub missed: u64,
    /// Rounds that were left out for what the one before cost.
    pub spared: u64,
    /// How many intervals the round stands for that is now due.
    pub weight: u32,
}

impl Pace {
    /// So many rounds a second from `start` on, for so long. The first one is due at once.
    pub fn new(start: Instant, frequency: u32, duration: Duration) -> Self {
        let interval = Duration::from_nanos(1_000_000_000 / u64::from(frequency.max(1)));
        let seed = std::process::id();
        Self { start, duration, interval, over: 1, begin: 1, random: u64::from(seed) | 1 << 32 }
    }

    /// The time between two rounds, in the mean.
    pub const fn interval(&self) -> Duration {
        self.interval
    }

    /// From the beginning until now.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.elapsed() >= self.duration
    }

    /// Waits for the next round, or for the end of the time. What the round stands for is not over before
    /// `affords`, a time since the beginning.
    pub fn wait(&mut self, affords: Duration, stop: &AtomicBool) -> Waited {
        let missed = self.intervals(self.elapsed()).saturating_sub(self.over);
        self.over = self.over.saturating_add(missed);
        let begin = self.over;
        self.begin = begin;
        let (due, weight) = self.turn(affords);
        while self.elapsed() < due && !stop.load(Ordering::Relaxed) {
            thread::sleep(due.saturating_sub(self.elapsed()).min(NAP));
        }
        // A round that is not taken spares those only for which there was time.
        let until = if due < self.duration { self.over } else { self.intervals(self.duration) };
        let spared = until.saturating_sub(begin).saturating_sub(1);
        Waited { missed, spared, weight }
    }

    /// How many intervals are over since those that the last round stood for.
    pub fn untaken(&self) -> u32 {
        let over = self.intervals(self.elapsed().min(self.duration));
        u32::try_from(over.saturating_sub(self.begin)).unwrap_or(u32::MAX)
    }

    /// When the next round is due, and how many intervals it stands for. One that is paid for only when the time is
    /// over is not taken.
    fn turn(&mut self, affords: Duration) -> (Duration, u32) {
        let begin = self.over;
        let nanos = affords.as_nanos().saturating_add(self.nanos().saturating_sub(1).into());
        let until = self.intervals(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)));
        let weight = u32::try_from(until.saturating_sub(begin)).unwrap_or(u32::MAX).max(1);
        self.over = begin.saturating_add(u64::from(weight));
        let end = Duration::from_nanos(self.nanos().saturating_mul(self.over));
        if weight > 1 && end > self.duration {
            return (self.duration, weight);
        }
        (self.moment(begin, weight), weight)
    }

    /// A moment of so many intervals from `begin` on.
    fn moment(&mut self, begin: u64, intervals: u32) -> Duration {
        // xorshift
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let nanos = self.nanos();
        let within = self.random.checked_rem(nanos.saturating_mul(intervals.into()));
        let since = nanos.saturating_mul(begin).saturating_add(within.unwrap_or_default());
        Duration::from_nanos(since)
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.interval.as_nanos()).unwrap_or(u64::MAX).max(1)
    }

    /// How many whole intervals a time has.
    fn intervals(&self, time: Duration) -> u64 {
        let count = time.as_nanos().checked_div(self.nanos().into());
        u64::try_from(count.unwrap_or_default()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn pace(duration: Duration) -> Pace {
        Pace::new(Instant::now(), 1000, duration)
    }

    #[test]
    fn a_round_is_due_in_every_interval() {
        let mut pace = pace(Duration::from_secs(1));
        for over in 1..100_u32 {
            let (due, weight) = pace.turn(Duration::ZERO);
            assert!(due >= MS * over && due < MS * (over + 1), "{over}: {due:?}");
            assert_eq!(weight, 1);
        }
    }

    #[test]
    fn a_round_stands_for_the_intervals_that_pay_for_it_and_is_due_at_any_moment_of_them() {
        let mut seen = [0; 4];
        for _ in 0..50 {
            let mut pace = pace(Duration::from_secs(1));
            pace.random = u64::from(seen.iter().sum::<u32>()) << 40 | 99;
            let (due, weight) = pace.turn(Duration::from_micros(4500));
            assert_eq!(weight, 4);
            assert!(due >= MS && due < 5 * MS, "{due:?}");
            seen[usize::try_from(due.as_millis()).unwrap() - 1] += 1;
            assert!(pace.turn(Duration::ZERO).0 >= 5 * MS, "the next one is behind them");
        }
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    }

    #[test]
    fn what_is_paid_for_only_behind_the_end_is_not_taken() {
        let mut pace = pace(20 * MS);
        assert_eq!(pace.turn(21 * MS).0, 20 * MS);
    }

    #[test]
    fn what_was_missed_is_counted() {
        let start = Instant::now().checked_sub(Duration::from_millis(105)).unwrap();
        let mut pace = Pace::new(start, 100, Duration::from_secs(1));
        let waited = pace.wait(Duration::ZERO, &AtomicBool::new(true));
        assert!(waited.missed >= 9, "{waited:?}");
    }
}
