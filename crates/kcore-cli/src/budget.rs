//! `--max-memory` and `--max-time`: the limits of a command.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use kcore::{Allowance, Budget};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The memory assumed when the system does not tell it.
const UNKNOWN: u64 = 4 << 30;
/// The smallest useful limit.
const LEAST: u64 = 16 << 20;
/// Memory of kcore that no budget counts: stacks, tables, buffers.
const OWN: u64 = 256 << 20;

/// The limits that the user set.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub(crate) struct BudgetArgs {
    /// Memory for what kcore reads of a core and its files, such as 512M or 8G [default: half of the memory that kcore may use]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_memory: Option<u64>,

    /// Seconds that one command may take; then kcore shows what it has [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    max_time: Option<Duration>,
}

impl Eq for BudgetArgs {}

impl BudgetArgs {
    /// The budget of each command.
    pub(crate) fn budget(&self) -> Budget {
        let memory = self.max_memory.unwrap_or_else(|| (available() / 2).max(LEAST));
        Budget::new(Allowance { time: self.max_time, ..Allowance::of_memory(memory) })
    }

    /// Sets the limit of `--max-memory` as a resource limit of the process too, as the last guard.
    ///
    /// # Errors
    /// When the system refuses the limit.
    pub(crate) fn guard(&self) -> Result<()> {
        let Some(memory) = self.max_memory else { return Ok(()) };
        let held = getrlimit(Resource::Data);
        let wanted = memory.saturating_add(OWN);
        let current = Some(held.current.map_or(wanted, |current| current.min(wanted)));
        setrlimit(Resource::Data, Rlimit { current, maximum: held.maximum })
            .context("cannot limit the memory of kcore")
    }
}

/// `4096`, `512K`, `64M`, `8G`, `1T`; an `i` and a `B` may follow the letter.
fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("expected a size as 512M or 8G, not '{text}'");
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default().to_ascii_uppercase();
    let shift = match unit.trim_end_matches('B').trim_end_matches('I') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let size = number.checked_mul(1 << shift).ok_or_else(wrong)?;
    if size < LEAST { Err(format!("{text} is too little: 16M is the least")) } else { Ok(size) }
}

/// A number of seconds, which may have a fraction.
fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("expected seconds, more than 0, not '{text}'");
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero()).ok_or_else(wrong)
}

/// The memory of the machine, or the limit of kcore's control groups if that is less.
fn available() -> u64 {
    let of_groups = groups().into_iter().filter_map(|file| number(&file));
    of_groups.chain(of_machine()).min().unwrap_or(UNKNOWN)
}

fn of_machine() -> Option<u64> {
    let facts = fs::read_to_string("/proc/meminfo").ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The files with the memory limits of control groups: in version 2 those of kcore's group and all above
/// it, in version 1 that of its own group.
fn groups() -> Vec<String> {
    const ROOT: &str = "/sys/fs/cgroup";
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut files =
        vec![format!("{ROOT}/memory.max"), format!("{ROOT}/memory/memory.limit_in_bytes")];
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        match (parts.next(), parts.next()) {
            (Some(""), Some(path)) => {
                let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
                files.extend(
                    ends.filter_map(|end| path.get(..end))
                        .map(|group| format!("{ROOT}{group}/memory.max")),
                );
            }
            (Some("memory"), Some(path)) => {
                files.push(format!("{ROOT}/memory{path}/memory.limit_in_bytes"));
            }
            _ => {}
        }
    }
    files
}

/// The number in a file; `max` is none.
fn number(file: &str) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("16777216"), Ok(16 << 20));
        assert_eq!([size("64M"), size("64mib"), size("64MB")], [const { Ok(64 << 20) }; 3]);
        assert_eq!([size("2G"), size("1T")], [Ok(2 << 30), Ok(1 << 40)]);
        for wrong in ["", "G", "-1G", "1X", "1.5G", "1M", "99999999999T"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_seconds_and_more_than_none() {
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["", "0", "-1", "nan", "inf", "5s", "1e40"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_limit_is_derived_from_the_memory_of_the_machine() {
        let all = available();
        assert!((1 << 20..1 << 50).contains(&all), "{all}");
        let given = BudgetArgs { max_memory: Some(64 << 20), max_time: None };
        assert_eq!(given.budget().allowance().memory, 64 << 20);
    }
}
