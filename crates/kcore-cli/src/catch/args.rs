//! The command line of `kcore catch`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueHint};

use crate::{
    args::{Color, Json},
    files::FileArgs,
    live::LiveArgs,
    save::WhatArgs,
};

const LONG_ABOUT: &str = "\
Wait until something happens in a live process, and show its stacks as they are at that very
moment, or save a core of it. The process stops while it is copied, and then runs on.

An EVENT is one of these. With several, the first that happens counts.

  close=EBADF     the system call fails with this error; `close=any` is any error
  SIGUSR1         the signal is about to be delivered, even if the process ignores it
  fatal           a signal is about to end the process
  failure         the process ends with a status other than 0, or by a signal
  exit            the process ends
  parse_line()    this function of native code is entered

The thread that the event happened to comes first: `::stack` shows its stack, `::status` the
process, `::stacks` all threads.

kcore traces the process while it waits. The kernel itself looks for system calls and
functions, so nothing else stops a thread for long: signals, new threads and ends of threads
do for some microseconds. Where the kernel refuses to look for system calls (it is older
than 5.13, or kcore may not read /sys/kernel/tracing), each system call stops its thread
twice. kcore says so before it waits. A breakpoint on a function needs Linux 5.13; a machine
has about four of them.

A signal that the process takes by sigwait(3) or a signalfd is never delivered, and so not
seen. When the process starts another program, the wait ends.

The kernel tells of system calls and functions by SIGTRAP. A thread that blocks this signal
is caught later than the event, and kcore says so. If kcore itself is killed (SIGKILL) when
such a signal was just sent, or is blocked, the process may end by SIGTRAP. Any other end of
kcore lets it run on.";

const AFTER_LONG_HELP: &str = "\
Examples:
  kcore catch 4711 close=EBADF                 who closes a file twice
  kcore catch 4711 fatal failure -o app.core   a core of the moment before it dies
  kcore catch 4711 SIGTERM -c ::status         what it does when somebody ends it
  kcore catch 4711 'malloc_printerr()'         where the C library finds a torn heap
  kcore catch --within 60 4711 connect=any     give up after a minute

Exit status:
  0  an event was caught
  1  none came in time, or the process ended before, or the core could not be written
  2  wrong usage, or the process cannot be looked at";

/// Catch the moment when something happens in a live process
#[derive(Parser, Debug)]
#[command(
    name = "kcore catch",
    bin_name = "kcore catch",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_LONG_HELP,
    override_usage = "kcore catch [OPTIONS] PID EVENT..."
)]
pub(crate) struct CatchArgs {
    /// The process: all of its threads, or those of these ids or one-letter states
    #[arg(value_name = "PID[/TID,..|/STATES]")]
    pub(crate) process: String,

    /// What to wait for: `CALL=ERROR`, `SIGNAL`, `fatal`, `failure`, `exit`, `FUNCTION()`
    #[arg(value_name = "EVENT", required = true)]
    pub(crate) events: Vec<String>,

    /// Run commands on a snapshot of that moment; may be repeated [default: ::stack and ::stacks]
    #[arg(short, long = "command", value_name = "CMDS", conflicts_with = "output")]
    pub(crate) commands: Vec<OsString>,

    /// Save a core of that moment; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Wait for at most so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, overrides_with = "within")]
    pub(crate) within: Option<Duration>,

    /// Write each result as JSON Lines; `compact` leaves out what is null
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

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|time| !time.is_zero()).ok_or_else(|| "a number of seconds, such as 60".into())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parsed(words: &[&str]) -> Result<CatchArgs, String> {
        let words = std::iter::once("kcore catch").chain(words.iter().copied());
        CatchArgs::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn the_declaration_is_sound() {
        CatchArgs::command().debug_assert();
    }

    #[test]
    fn a_process_and_an_event_are_needed() {
        assert!(parsed(&["7"]).unwrap_err().contains("<EVENT>"));
        let args = parsed(&["--within", "1.5", "7", "close=any", "fatal"]).unwrap();
        assert_eq!((args.events.len(), args.within), (2, Some(Duration::from_millis(1500))));
        assert!(parsed(&["7", "exit", "--within", "0"]).is_err());
    }

    #[test]
    fn it_shows_or_saves() {
        assert!(parsed(&["7", "exit", "-o", "a", "-c", "::stack"]).is_err());
        assert!(parsed(&["7", "exit", "-o", "a", "--stacks-only"]).is_ok());
    }
}
