//! The monotonic clock, by which most runtimes measure how long something waits.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use crate::Process;

const NANOSECONDS: i128 = 1_000_000_000;

/// What the monotonic clock of a process stood at, at an instant that has passed; `None` where the system does not tell.
/// A process in a time namespace of its own sees another time than this one: `/proc/PID/timens_offsets`
/// (time_namespaces(7)) says by how much.
pub fn of_process(process: &Process, then: Instant) -> Option<Duration> {
    let passed = i128::try_from(then.elapsed().as_nanos()).ok()?;
    let own = offset(Path::new("/proc/self")).unwrap_or_default();
    let other = offset(&process.folder()).unwrap_or_default();
    let nanos = now()?.checked_sub(passed)?.checked_sub(own)?.checked_add(other)?;
    Some(Duration::from_nanos(u64::try_from(nanos).ok()?))
}

/// Nanoseconds of the monotonic clock.
fn now() -> Option<i128> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec`, which is valid for writes.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    (done == 0).then(|| of_parts(time.tv_sec, time.tv_nsec)).flatten()
}

fn of_parts(seconds: i64, nanos: i64) -> Option<i128> {
    i128::from(seconds).checked_mul(NANOSECONDS)?.checked_add(i128::from(nanos))
}

/// Nanoseconds by which the clock of the process of a folder of `/proc` is ahead of the machine's.
fn offset(folder: &Path) -> Option<i128> {
    parse_offset(&std::fs::read(folder.join("timens_offsets")).ok()?)
}

fn parse_offset(text: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(text).ok()?;
    let mut words =
        text.lines().find_map(|line| line.strip_prefix("monotonic"))?.split_ascii_whitespace();
    of_parts(words.next()?.parse().ok()?, words.next()?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_read() {
        let parse = |text: &str| parse_offset(text.as_bytes());
        assert_eq!(parse("monotonic           0         0\nboottime  5  0\n"), Some(0));
        assert_eq!(parse("monotonic      172800        7\n"), Some(172_800_000_000_007));
        assert_eq!(parse("monotonic         -10        0\n"), Some(-10_000_000_000));
        assert_eq!((parse("boottime 5 0\n"), parse("monotonic 5")), (None, None));
    }
}
