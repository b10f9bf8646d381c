//! The command line of `kcore watch`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueHint};
use kcore::watch::{Condition, parse_seconds};

use crate::{
    args::{Color, Json},
    files::FileArgs,
    live::LiveArgs,
    save::WhatArgs,
};

const LONG_ABOUT: &str = "\
Look at a live process at intervals, and say which threads did not run, which ran and were found
in the same frames each time, and how memory, threads and descriptors changed.

Between looks nothing is stopped. Each look takes a snapshot, for which the process stands still
for some milliseconds. With --until, kcore reads only /proc until a condition holds. Then it
takes one snapshot, and shows it, runs commands on it (-c), or saves a core instead (-o).

A thread that ran and stands in the same place may have done any amount of work in between.";

const AFTER_LONG_HELP: &str = "\
Conditions:
  idle=30s      none of its threads has run for 30 seconds
  rss=2G        2 GiB of memory are present, or more
  threads=500   it has 500 threads, or more
  fds=1000      it has 1,000 open descriptors, or more
  cpu=90%       it used 90% of one processor between two looks, or more

Examples:
  kcore watch 4711                              what does not move within four seconds
  kcore watch -i 10 -n 6 4711                   the same within a minute
  kcore watch --until idle=30s 4711             the stacks once it hangs
  kcore watch --until rss=2G 4711 -o app.core   a core once it is big
  kcore watch --until threads=500 --within 3600 4711 -c ::stacks

Exit status:
  0  watched; with --until, a condition held
  1  no condition held in time, the process ended or started another program, or the core could
     not be written
  2  wrong usage, or the process cannot be looked at";

/// Look at a live process at intervals, and say what did not move
#[derive(Parser, Debug)]
#[command(
    name = "kcore watch",
    bin_name = "kcore watch",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_LONG_HELP,
    override_usage = "kcore watch [OPTIONS] PID"
)]
pub(crate) struct WatchArgs {
    /// The process
    #[arg(value_name = "PID")]
    pub(crate) process: String,

    /// Time between two looks, a tenth of a second at least
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = interval)]
    pub(crate) interval: Duration,

    /// How many intervals to watch, without --until
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        default_value_t = 4,
        value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with = "until"
    )]
    pub(crate) intervals: u64,

    /// Wait until this holds; may be repeated: the first one that holds counts
    #[arg(long, value_name = "CONDITION", value_parser = condition)]
    pub(crate) until: Vec<WantedCondition>,

    /// With --until: wait for at most so many seconds
    #[arg(long, value_name = "SECONDS", requires = "until", value_parser = seconds)]
    pub(crate) within: Option<Duration>,

    /// With --until: run commands on a snapshot then; may be repeated
    #[arg(
        short,
        long = "command",
        value_name = "CMDS",
        requires = "until",
        conflicts_with = "output"
    )]
    pub(crate) commands: Vec<OsString>,

    /// With --until: save a core then; `-` is standard output
    #[arg(
        short,
        long,
        value_name = "FILE",
        requires = "until",
        value_hint = ValueHint::FilePath
    )]
    pub(crate) output: Option<PathBuf>,

    /// Write the result as JSON Lines; `compact` leaves out what is null
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "full"
    )]
    pub(crate) json: Option<Json>,

    /// When to use colour and underlining
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,

    #[command(flatten)]
    pub(crate) what: WhatArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

/// A condition, and how it was typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WantedCondition {
    pub(crate) text: String,
    pub(crate) condition: Condition,
}

fn seconds(text: &str) -> Result<Duration, String> {
    parse_seconds(text).ok_or_else(|| "a number of seconds, such as 30 or 0.5".to_owned())
}

/// The system counts the time of a process by hundredths of a second: less than a tenth says too little.
fn interval(text: &str) -> Result<Duration, String> {
    const LEAST: Duration = Duration::from_millis(100);
    let time = seconds(text)?;
    if time < LEAST { Err("a tenth of a second (0.1) at least".to_owned()) } else { Ok(time) }
}

fn condition(text: &str) -> Result<WantedCondition, String> {
    let condition = Condition::parse(text)
        .ok_or("a condition, such as idle=30s, rss=2G, threads=500, fds=1000 or cpu=90%")?;
    Ok(WantedCondition { text: text.to_owned(), condition })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parsed(words: &[&str]) -> Result<WatchArgs, String> {
        let words = std::iter::once("kcore watch").chain(words.iter().copied());
        WatchArgs::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn the_declaration_is_sound() {
        WatchArgs::command().debug_assert();
    }

    #[test]
    fn conditions_are_kept_as_they_were_typed() {
        let args = parsed(&["7", "--until", "rss=2g", "--until", "cpu=90"]).unwrap();
        let texts: Vec<&str> = args.until.iter().map(|wanted| wanted.text.as_str()).collect();
        assert_eq!(texts, ["rss=2g", "cpu=90"]);
        assert!(parsed(&["7", "--until", "load=3"]).unwrap_err().contains("idle=30s"));
    }

    #[test]
    fn what_is_done_then_needs_a_condition() {
        let until = |words: &[&str]| parsed(&[&["7", "--until", "fds=9"], words].concat());
        for words in [&["-o", "a"][..], &["-c", "::stacks"], &["--within", "3"]] {
            assert!(parsed(&[&["7"], words].concat()).unwrap_err().contains("--until"));
            assert!(until(words).is_ok(), "{words:?}");
        }
        assert!(until(&["-o", "a", "-c", "::stacks"]).is_err());
        assert!(until(&["-n", "3"]).is_err());
        assert!(until(&["-o", "a", "--stacks-only"]).is_ok());
    }

    #[test]
    fn looks_are_not_taken_too_often() {
        assert!(parsed(&["7", "-i", "0.01"]).unwrap_err().contains("0.1"));
        assert_eq!(parsed(&["7", "-i", "0.5"]).unwrap().interval, Duration::from_millis(500));
    }
}
