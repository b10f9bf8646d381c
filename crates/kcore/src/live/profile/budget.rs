//! How much of the time a profile may hold the process, and what a stop costs against that.

use std::time::Duration;

/// A share of the time, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldShare(u32);

impl HeldShare {
    const WHOLE: u32 = 1_000_000;

    /// All of the time: no limit.
    pub const ALL: Self = Self(Self::WHOLE);

    /// So many hundredths; `None` when they are not above 0, or above 100.
    pub fn of_percent(percent: f64) -> Option<Self> {
        let millionths = (percent * 10_000.0).round();
        (1.0..=f64::from(Self::WHOLE)).contains(&millionths).then_some(Self(millionths as u32))
    }

    /// In hundredths.
    pub fn percent(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }

    /// How long the process has to run for having been held for so long.
    fn price(self, held: Duration) -> Duration {
        let nanos = held.as_nanos().saturating_mul(u128::from(Self::WHOLE));
        let nanos = nanos.checked_div(u128::from(self.0)).unwrap_or(u128::MAX);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl Default for HeldShare {
    /// Two hundredths.
    fn default() -> Self {
        Self(20_000)
    }
}

/// Keeps what rounds cost within a share of the time. All times are since the profile began.
///
/// Each stop has a price: the time of which it is the allowed share. The next round may be taken once what was
/// taken before is paid for, and what it will cost itself by what the last ones cost. So a stop that takes longer than
/// those before it is the only thing by which the share is passed, and the rounds after it make up for it.
#[derive(Debug)]
pub struct Budget {
    share: HeldShare,
    /// The time up to which all stops are paid for.
    paid: Duration,
    /// What the next round is thought to cost.
    expected: Duration,
}

impl Budget {
    /// Time without stops that may be saved up for later, at most: a process that begins to run after a minute of
    /// waiting is not held for a minute's share at once.
    const SAVED: Duration = Duration::from_secs(1);

    /// Nothing was taken yet.
    pub const fn new(share: HeldShare) -> Self {
        Self { share, paid: Duration::ZERO, expected: Duration::ZERO }
    }

    /// Notes that a round at this time held the process for so long.
    pub fn note(&mut self, at: Duration, held: Duration) {
        let from = self.paid.max(at.saturating_sub(Self::SAVED));
        self.paid = from.saturating_add(self.share.price(held));
        // Three quarters of what was thought, and one of what was.
        let quarter = |time: Duration| time.checked_div(4).unwrap_or_default();
        self.expected =
            self.expected.saturating_sub(quarter(self.expected)).saturating_add(quarter(held));
    }

    /// The time by which another round is paid for.
    pub fn affords(&self) -> Duration {
        if self.share == HeldShare::ALL {
            return Duration::ZERO;
        }
        self.paid.saturating_add(self.share.price(self.expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn percent(percent: f64) -> HeldShare {
        HeldShare::of_percent(percent).unwrap()
    }

    #[test]
    fn shares_are_above_nothing_and_at_most_the_whole() {
        assert_eq!(percent(2.0), HeldShare::default());
        assert_eq!(percent(100.0), HeldShare::ALL);
        assert!((percent(0.25).percent() - 0.25).abs() < 1e-9);
        for wrong in [0.0, -1.0, 100.1, f64::NAN, f64::INFINITY] {
            assert_eq!(HeldShare::of_percent(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_stop_is_paid_for_by_the_time_of_which_it_is_the_share() {
        let mut budget = Budget::new(percent(2.0));
        assert_eq!(budget.affords(), Duration::ZERO);
        budget.note(Duration::ZERO, 4 * MS);
        // 4 ms that were, and 1 ms that is expected.
        assert_eq!(budget.affords(), 250 * MS);
    }

    #[test]
    fn however_stops_vary_the_share_is_passed_by_two_of_them_at_most() {
        for share in [0.5, 2.0, 30.0] {
            let mut budget = Budget::new(percent(share));
            let (mut now, mut held, mut longest) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
            let mut random: u32 = 7;
            for _ in 0..2000 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let stop = Duration::from_micros(u64::from(random >> 18));
                budget.note(now, stop);
                (held, longest) = (held + stop, longest.max(stop));
                now = (now + stop).max(budget.affords());
                let allowed = now.mul_f64(share / 100.0) + 2 * longest;
                assert!(held <= allowed, "{share}: {held:?} of {now:?}");
            }
        }
    }

    #[test]
    fn what_is_saved_up_while_nothing_is_stopped_has_a_bound() {
        let mut budget = Budget::new(percent(2.0));
        let late = Duration::from_secs(60);
        budget.note(late, 30 * MS);
        // A second was saved up, which pays for 20 ms of it.
        assert!(budget.affords() > late + 500 * MS);
    }

    #[test]
    fn without_a_limit_a_round_is_always_paid_for() {
        let mut budget = Budget::new(HeldShare::ALL);
        budget.note(Duration::ZERO, Duration::from_secs(5));
        assert_eq!(budget.affords(), Duration::ZERO);
    }
}
