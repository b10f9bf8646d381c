//! The clock of a run.

use std::time::Duration;

use super::{super::heap::Object, fields::Fields};
use crate::tokio::Deadline;

/// The class of the clock that a run has if it was given none.
const SYSTEM: &str = "SystemClock";

/// What a clock of trio is ahead of the monotonic clock; `None` of one that the program made.
#[derive(Clone, Copy)]
pub struct Clock(Option<f64>);

impl Clock {
    /// The one of a run.
    pub fn of(fields: &mut Fields<'_>, runner: Object) -> Self {
        let clock = fields.get(runner, "clock");
        let clock =
            clock.filter(|clock| fields.class_name(*clock).is_some_and(|it| &*it == SYSTEM));
        Self(clock.and_then(|clock| fields.float(clock, "offset")))
    }

    /// A time of this clock in seconds, on the monotonic clock; `None` of infinity.
    pub fn deadline(self, time: f64) -> Option<Deadline> {
        let time = Duration::try_from_secs_f64(time - self.0?).ok()?;
        let seconds = i64::try_from(time.as_secs()).ok()?;
        Some(Deadline { seconds, nanos: time.subsec_nanos() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_monotonic_clock() {
        let clock = Clock(Some(100_000.0));
        let deadline = clock.deadline(100_012.25);
        assert_eq!(deadline, Some(Deadline { seconds: 12, nanos: 250_000_000 }));
        for never in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0] {
            assert_eq!(clock.deadline(never), None);
        }
        assert_eq!(Clock(None).deadline(1.0), None);
    }
}
