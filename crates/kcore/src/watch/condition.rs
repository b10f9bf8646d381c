//! Conditions that a watched process may come to meet.

use std::time::Duration;

/// A state of a process that is waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// None of its threads has run for this long.
    Idle(Duration),
    /// This many bytes of memory are present, or more.
    Resident(u64),
    /// It has this many threads, or more.
    Threads(u64),
    /// It has this many open file descriptors, or more.
    Descriptors(u64),
    /// Between the last two looks it used this share of one processor, in percent, or more.
    Processor(f64),
}

/// What is compared with conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    /// For how long no thread is proven to have run.
    pub idle: Duration,
    /// Bytes of memory that are present.
    pub resident: Option<u64>,
    /// Threads.
    pub threads: u64,
    /// Open file descriptors.
    pub descriptors: Option<u64>,
    /// The share of one processor between the last two looks, in percent.
    pub processor: Option<f64>,
}

impl Condition {
    /// Reads `idle=30s`, `rss=2G`, `threads=500`, `fds=1000` or `cpu=90%`.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, value) = text.split_once('=')?;
        match name {
            "idle" => parse_seconds(value).map(Self::Idle),
            "rss" => parse_size(value).map(Self::Resident),
            "threads" => count(value).map(Self::Threads),
            "fds" => count(value).map(Self::Descriptors),
            "cpu" => percent(value).map(Self::Processor),
            _ => None,
        }
    }

    /// Whether it holds. What the system does not tell meets no condition.
    pub fn holds(self, now: &Measures) -> bool {
        match self {
            Self::Idle(time) => now.idle >= time,
            Self::Resident(bytes) => now.resident.is_some_and(|resident| resident >= bytes),
            Self::Threads(count) => now.threads >= count,
            Self::Descriptors(count) => now.descriptors.is_some_and(|open| open >= count),
            Self::Processor(share) => now.processor.is_some_and(|used| used >= share),
        }
    }
}

/// Reads a time above zero, in seconds: `30` or `0.5s`.
pub fn parse_seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.strip_suffix('s').unwrap_or(text).parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())
}

fn parse_size(text: &str) -> Option<u64> {
    const UNITS: [(char, u64); 4] =
        [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30), ('T', 1 << 40)];
    let upper = text.to_ascii_uppercase();
    let found = UNITS.iter().find_map(|(unit, size)| Some((upper.strip_suffix(*unit)?, *size)));
    let (digits, unit) = found.unwrap_or((&upper, 1));
    count(digits)?.checked_mul(unit)
}

fn count(text: &str) -> Option<u64> {
    text.parse().ok().filter(|count| *count > 0)
}

fn percent(text: &str) -> Option<f64> {
    let share: f64 = text.strip_suffix('%').unwrap_or(text).parse().ok()?;
    (share.is_finite() && share > 0.0).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_have_units() {
        let idle = Condition::Idle(Duration::from_secs(30));
        assert_eq!(Condition::parse("idle=30s"), Some(idle));
        assert_eq!(Condition::parse("rss=2G"), Some(Condition::Resident(2 << 30)));
        assert_eq!(Condition::parse("cpu=90%"), Some(Condition::Processor(90.0)));
        assert_eq!(Condition::parse("threads=500"), Some(Condition::Threads(500)));
        for wrong in ["", "idle", "idle=0", "rss=2X", "rss=-1", "cpu=nan", "fds=0", "load=3"] {
            assert_eq!(Condition::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_not_told_meets_no_condition() {
        let unknown = Measures { threads: 3, ..Measures::default() };
        assert!(!Condition::Resident(1).holds(&unknown));
        assert!(!Condition::Processor(0.1).holds(&unknown));
        assert!(!Condition::Idle(Duration::from_secs(1)).holds(&unknown));
        assert!(Condition::Threads(3).holds(&unknown) && !Condition::Threads(4).holds(&unknown));
    }
}
