//! `-p`: which process, which of its threads, and how it is copied.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use kcore::{Instants, LiveFacts, LiveOptions, Pid, ThreadChoice, Tid};

/// The options that are about a live process.
#[derive(ClapArgs, Clone, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Live process")]
pub(crate) struct LiveArgs {
    /// Take a snapshot of a live process: all threads, or those of these ids or one-letter states
    #[arg(short, long = "pid", value_name = "PID[/TID,..|/STATES]")]
    pub(crate) pid: Option<String>,

    /// Stop one thread after the other, each for some microseconds, instead of all at one instant
    #[arg(long)]
    rolling: bool,

    /// Copy at most N bytes of each stack; K and M may follow
    #[arg(long, value_name = "N", value_parser = parse_size)]
    stack_size: Option<u64>,

    /// Wait at most MS milliseconds for threads to stop, and then copy for at most as long
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    stop_timeout: u64,

    /// Let the process run on after MS milliseconds, even if not all is copied [default: 1000; 10000 when
    /// all memory is saved]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    stop_budget: Option<u64>,

    /// Later read memory that was not copied from the live process, and mark it as such
    #[arg(long)]
    live_memory: bool,

    /// Show the state of each thread with its stack
    #[arg(long)]
    pub(crate) show_state: bool,

    /// Show the stack pointer of each thread with its stack
    #[arg(long)]
    pub(crate) show_rsp: bool,

    /// Use the file at the path of a deleted file, unless something proves that it is another one
    #[arg(long)]
    ignore_deleted: bool,
}

/// A process that is to be copied, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiveTarget {
    pub(crate) pid: Pid,
    pub(crate) options: LiveOptions,
}

impl LiveArgs {
    /// What is to be copied; `None` when it is no live process.
    ///
    /// # Errors
    /// When no process is named so, or options for live processes have none.
    pub(crate) fn target(&self) -> Result<Option<LiveTarget>> {
        let Some(named) = self.pid.as_deref() else {
            // How stacks are shown is asked of cores as well.
            let given = Self { show_state: false, show_rsp: false, ..self.clone() };
            let plain = Self { stop_timeout: given.stop_timeout, ..Self::default() };
            if given != plain || ![0, 1000].contains(&given.stop_timeout) {
                bail!("options for a live process need one: -p PID");
            }
            return Ok(None);
        };
        self.named(named).map(Some)
    }

    /// The process of that name, and how it is to be copied.
    ///
    /// # Errors
    /// When no process is named so.
    pub(crate) fn named(&self, named: &str) -> Result<LiveTarget> {
        let (pid, threads) = parse_named(named)?;
        let options = LiveOptions {
            threads,
            rolling: self.rolling,
            stack_size: self.stack_size,
            stop_timeout: Duration::from_millis(self.stop_timeout),
            stop_budget: self.stop_budget.map(Duration::from_millis),
            live_memory: self.live_memory,
            ignore_deleted: self.ignore_deleted,
            all_registers: false,
            when: None,
        };
        Ok(LiveTarget { pid, options })
    }
}

/// What helps where memory was not copied.
pub(crate) const UNCOPIED: &str =
    "kcore: kcore --live-memory -p PID reads such memory from the process, later than the stacks";

/// Whether a word names a process and not a file: `kcore stacks 4711`.
pub(crate) fn is_process(word: &Path) -> bool {
    let name = word.to_str().unwrap_or_default();
    name.starts_with(|first: char| first.is_ascii_digit())
        && parse_named(name).is_ok()
        && !word.exists()
}

fn parse_named(named: &str) -> Result<(Pid, ThreadChoice)> {
    let (pid, threads) = match named.split_once('/') {
        None => (named, Some(ThreadChoice::All)),
        Some((pid, threads)) => (pid, ThreadChoice::parse(threads)),
    };
    let pid: Option<i32> = pid.parse().ok().filter(|pid| *pid > 0);
    let pid =
        pid.with_context(|| format!("{named}: no process id (PID, PID/TID,TID or PID/RS)"))?;
    let threads = threads.with_context(|| {
        format!("{named}: behind the process stand ids (PID/TID,TID) or states (PID/RS)")
    })?;
    Ok((Pid::new(pid), threads))
}

fn parse_size(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix(['m', 'M']).map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    let size = digits.parse::<u64>().ok().and_then(|size| size.checked_mul(unit));
    size.filter(|size| *size > 0)
        .ok_or_else(|| "a number of bytes, such as 65536 or 64K".to_owned())
}

/// What the snapshot cost the process, and what is missing in it: a line each.
pub(crate) fn notes(pid: Pid, facts: &LiveFacts, threads: usize) -> Vec<String> {
    let stopped = time(facts.stopped);
    let mut notes = vec![match facts.instants {
        Instants::Each => format!(
            "process {pid}: each of {threads} threads stood still by itself, {} in the median, {stopped} at most",
            time(facts.median),
        ),
        Instants::OneOfChosen => format!(
            "process {pid}: {threads} of its threads, as chosen, stood still for {stopped}; the others ran on"
        ),
        Instants::One => format!("process {pid} stood still for {stopped} ({})", counted(threads)),
    }];
    if !facts.before.is_empty() {
        let times: Vec<String> = facts.before.iter().copied().map(time).collect();
        notes.push(format!(
            "it stood still before for {}, to learn what else stacks need; all that is shown is of the \
             last time",
            times.join(" and ")
        ));
    }
    if facts.is_late {
        notes.push(
            "the time was over before all was copied (--stop-budget, --stop-timeout): stacks may be cut"
                .to_owned(),
        );
    }
    notes.extend(late_note(&facts.late_threads));
    notes.extend(missed_note(facts));
    notes
}

fn late_note(late: &[Tid]) -> Option<String> {
    let count = late.len();
    (count > 0).then(|| {
        format!("{count} of its threads did not stop in time, and have no stacks (see ::status)")
    })
}

fn missed_note(facts: &LiveFacts) -> Option<String> {
    let then = if facts.reads_later {
        "is read now that it runs on"
    } else {
        "was not copied: some frames may have no name (once more may do, or --live-memory)"
    };
    (facts.missed_pages > 0).then(|| {
        format!("memory that its threads came to use between one stop and the next {then}")
    })
}

/// So many threads.
pub(crate) fn counted(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// A time as people say it.
pub(crate) fn time(time: Duration) -> String {
    let micros = time.as_nanos().div_ceil(1000);
    if micros < 1000 {
        format!("{micros} us")
    } else {
        format!("{}.{:02} ms", micros / 1000, micros % 1000 / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_have_threads_or_states_behind_it() {
        assert_eq!(parse_named("70").unwrap().0, Pid::new(70));
        let states = parse_named("70/RS").unwrap().1;
        assert_eq!(states, ThreadChoice::States("RS".to_owned()));
        for wrong in ["", "0", "-1", "x", "70/", "70/Q", "70/1,x", "99999999999"] {
            assert!(parse_named(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("64K"), Ok(64 << 10));
        assert_eq!(parse_size("2m"), Ok(2 << 20));
        assert_eq!(parse_size("100"), Ok(100));
        for wrong in ["", "0", "K", "-1", "1G", "99999999999999999999M"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_short() {
        assert_eq!(time(Duration::from_nanos(870_100)), "871 us");
        assert_eq!(time(Duration::from_micros(12_345)), "12.34 ms");
    }

    #[test]
    fn options_without_a_process_are_refused() {
        let args = LiveArgs { rolling: true, stop_timeout: 1000, ..LiveArgs::default() };
        assert!(args.target().is_err());
        let named = LiveArgs { pid: Some("70".to_owned()), ..args };
        assert!(named.target().unwrap().is_some_and(|target| target.options.rolling));
        let plain = LiveArgs { stop_timeout: 1000, ..LiveArgs::default() };
        assert_eq!(plain.target().unwrap(), None);
    }
}
