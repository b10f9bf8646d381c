//! The command line of `kcore watch`.

use std::time::Duration;

use clap::Parser;
use kcore::watch::{Condition, parse_seconds};

use crate::{args::Json, files::FileArgs, live::LiveArgs};

const LONG_ABOUT: &str = "\
Look at a live process at intervals, and say which threads did not run, which ran and were found
in the same frames each time, and how memory, threads and descriptors changed.

Between looks nothing is stopped. Each look takes a snapshot, for which the process stands still
for some milliseconds. With --until, kcore reads only /proc until a condition holds, and then
takes one snapshot.";

const AFTER_LONG_HELP: &str = "\
Conditions:
  idle=30s      none of its threads has run for 30 seconds
  rss=2G        2 GiB of memory are present, or more
  threads=500   it has 500 threads, or more
  fds=1000      it has 1,000 open descriptors, or more
  cpu=90%       it used 90% of one processor between two looks, or more

Exit status:
  0  watched; with --until, a condition held
  1  no condition held before the time was over or the process ended
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

    /// Time between two looks
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    pub(crate) interval: Duration,

    /// How many intervals to watch, without --until
    #[arg(short = 'n', long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) intervals: u64,

    /// Wait until this holds; may be repeated: the first one that holds counts
    #[arg(long, value_name = "CONDITION", value_parser = condition)]
    pub(crate) until: Vec<Condition>,

    /// With --until: wait no longer than this
    #[arg(long, value_name = "SECONDS", requires = "until", value_parser = seconds)]
    pub(crate) limit: Option<Duration>,

    /// Write the result as JSON Lines
    #[arg(long, value_name = "FORM", value_enum, num_args = 0..=1, require_equals = true,
          default_missing_value = "full")]
    pub(crate) json: Option<Json>,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

fn seconds(text: &str) -> Result<Duration, String> {
    parse_seconds(text).ok_or_else(|| "a number of seconds, such as 30 or 0.5".to_owned())
}

fn condition(text: &str) -> Result<Condition, String> {
    let wanted = "idle=30s, rss=2G, threads=500, fds=1000 or cpu=90%";
    Condition::parse(text).ok_or_else(|| format!("a condition, such as {wanted}"))
}
