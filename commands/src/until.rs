//! A time at which something ends.

use kcore::{Core, tokio::Deadline};

/// Nanoseconds of a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// A time of the monotonic clock for people: how far away it is, where it is known what the clock stood at; else the time
/// itself, in seconds.
pub fn until_text(core: &Core, until: Deadline) -> String {
    let clock = core.snapshot().facts().and_then(|facts| facts.clock);
    let now = clock.and_then(|clock| u64::try_from(clock.as_nanos()).ok());
    let left = now.zip(until.nanos()).map(|(now, then)| distance(now, then));
    left.unwrap_or_else(|| until.to_string())
}

/// From one time to another, both in nanoseconds.
fn distance(now: u64, then: u64) -> String {
    let millis = now.abs_diff(then).checked_div(MILLISECOND).unwrap_or_default();
    let seconds = Deadline::from_nanos(millis.saturating_mul(MILLISECOND));
    match then >= now {
        true => format!("in {seconds}"),
        false => format!("{seconds} ago"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_passed_is_told_from_what_comes() {
        assert_eq!(distance(5_000_000_000, 17_345_999_999), "in 12.345");
        assert_eq!(distance(17_345_999_999, 5_000_000_000), "12.345 ago");
        assert_eq!(distance(7, 7), "in 0.000");
    }
}
