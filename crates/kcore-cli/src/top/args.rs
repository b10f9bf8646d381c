//! The command line of `kcore top`.

use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};
use kcore::{HeldShare, OpenOptions, ProfileOptions};

use crate::args::{Color, Json};
use crate::files::FileArgs;
use crate::live::{LiveArgs, LiveTarget};
use crate::profile::{parse_seconds, parse_share};

const LONG_ABOUT: &str = "\
Show which functions of a live process run, and how much of a processor each takes, again and
again. Functions of scripts (JavaScript, Python, Ruby, PHP, Lua, Perl) stand among those of
native code.

SELF is the time in a function itself, TOTAL the time in it and in what it calls, both in
percent of one processor. Samples are taken as 'kcore profile --cpu' takes them, by the kernel
where it may and no thread has to be stopped. With --all, threads that wait count as well.

The first line says how much of the processors the samples stand for, for how long the process
stood still for them, and what was lost. The process stands still for at most 2% of the time
(--hold).";

const AFTER_LONG_HELP: &str = "\
Keys:
  s  t      order by SELF, by TOTAL
  /         show only functions whose name or place has what is typed then; Enter ends it
  Esc       show all again
  a         all that was seen since the beginning, or the last part of it alone
  c         begin anew
  Space     stand still, or go on
  Up Down   move through the list; so do k and j, PageUp and PageDown
  q         end

Examples:
  kcore top 4711                 what runs in it
  kcore top --all 4711           where its threads are, whether they run or wait
  kcore top -d 5 -n 1 4711       one table of five seconds, to standard output
  kcore top --json -n 3 4711     records for scripts

Exit status:
  0  ended by the user, or after the tables that were asked for
  1  the process ended
  2  wrong usage, or the process cannot be looked at";

/// Show which functions of a live process run, as they do
#[derive(Parser, Debug)]
#[command(
    name = "kcore top",
    bin_name = "kcore top",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_LONG_HELP,
    override_usage = "kcore top [OPTIONS] PID"
)]
pub(crate) struct TopArgs {
    /// The process: all of its threads, or those of these ids
    #[arg(value_name = "PID[/TID,..]")]
    process: String,

    /// Time between two tables, a tenth of a second at least
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = parse_delay)]
    pub(crate) delay: Duration,

    /// Write so many tables to standard output, and end
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) tables: Option<u64>,

    /// Functions of a table that is written
    #[arg(short, long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,

    /// Order by this
    #[arg(short, long, value_name = "ORDER", value_enum, default_value_t = Order::Own)]
    pub(crate) sort: Order,

    /// Only functions whose name or place has this text
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) filter: String,

    /// Samples of each thread per second
    #[arg(short = 'F', long, value_name = "HZ", default_value_t = 99,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    frequency: u32,

    /// Stop the process for at most this share of the time, in percent; 100 is no limit
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = parse_share)]
    hold: HeldShare,

    /// Count threads that wait as well
    #[arg(long)]
    pub(crate) all: bool,

    /// Show only functions of machine code; do not decode those of scripts
    #[arg(long)]
    native: bool,

    /// Write records as JSON Lines; `compact` leaves out what is null
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
    files: FileArgs,

    #[command(flatten)]
    live: LiveArgs,
}

/// What functions are ordered by, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// Time in the function itself
    #[value(name = "self")]
    Own,
    /// Time in it and in what it calls
    Total,
}

/// What a command line asks for.
pub(crate) struct TopRequest {
    pub(crate) target: LiveTarget,
    pub(crate) profile: ProfileOptions,
    pub(crate) options: OpenOptions,
}

impl TopArgs {
    /// What is asked for.
    ///
    /// # Errors
    /// When no process is named so.
    pub(crate) fn wanted(&self) -> Result<TopRequest> {
        let target = self.live.named(&self.process)?;
        let profile = ProfileOptions {
            live: target.options.clone(),
            frequency: self.frequency,
            held: self.hold,
            duration: Duration::MAX,
            states: None,
            on_cpu: !self.all,
            native: self.native,
        };
        Ok(TopRequest { target, profile, options: self.files.options()? })
    }

    /// Whether tables are written one after the other, instead of one that changes.
    ///
    /// # Errors
    /// When records would go to a terminal without end.
    pub(crate) fn is_written(&self, is_terminal: bool) -> Result<bool> {
        if self.json.is_some() && self.tables.is_none() && is_terminal {
            bail!("records without end on a terminal: say how many tables (-n N)");
        }
        Ok(self.tables.is_some() || self.json.is_some() || !is_terminal)
    }
}

fn parse_delay(text: &str) -> Result<Duration, String> {
    const LEAST: Duration = Duration::from_millis(100);
    let time = parse_seconds(text)?;
    if time < LEAST { Err("a tenth of a second (0.1) at least".to_owned()) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parsed(words: &[&str]) -> Result<TopArgs, String> {
        let words = std::iter::once("kcore top").chain(words.iter().copied());
        TopArgs::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn the_declaration_is_sound() {
        TopArgs::command().debug_assert();
    }

    #[test]
    fn time_on_processors_counts_unless_all_is_asked_for() {
        assert!(parsed(&["7"]).unwrap().wanted().unwrap().profile.on_cpu);
        assert!(!parsed(&["7", "--all"]).unwrap().wanted().unwrap().profile.on_cpu);
        assert!(parsed(&["7", "-d", "0.01"]).unwrap_err().contains("0.1"));
        assert_eq!(parsed(&["7", "-s", "total"]).unwrap().sort, Order::Total);
    }

    #[test]
    fn tables_are_written_where_nobody_looks_at_a_screen() {
        assert!(parsed(&["7"]).unwrap().is_written(false).unwrap());
        assert!(!parsed(&["7"]).unwrap().is_written(true).unwrap());
        assert!(parsed(&["7", "-n", "2"]).unwrap().is_written(true).unwrap());
        assert!(parsed(&["7", "--json"]).unwrap().is_written(true).is_err());
    }
}
