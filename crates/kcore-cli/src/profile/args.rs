//! The command line of `kcore profile`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Parser, ValueEnum, ValueHint};
use kcore::profile::Format;
use kcore::{HeldShare, OpenOptions, ProfileOptions, ThreadChoice};

use crate::files::FileArgs;
use crate::live::{LiveArgs, LiveTarget};

const LONG_ABOUT: &str = "\
Sample the stacks of a live process, and write folded stacks, a flame graph, or a profile for
pprof or the Firefox profiler. Functions of scripts (JavaScript, Python, Ruby, PHP, Lua, Perl)
stand among those of native code.

All threads count, whether they run or wait. With --cpu, only the time on processors counts.
The kernel takes these samples where it may (perf_event_paranoid), and stops no thread. The
frames of Python lie in memory that the kernel does not sample, so --cpu stops threads where
Python runs, and counts those that run. --native does without these frames, and stops no
thread.

Without --cpu, a sample stops only threads that have run since the last sample, each for some
microseconds. kcore prepares what it needs to name their frames beforehand. The process stands
still for at most 2% of the time (--hold); a single stop that takes long may exceed that, and the
next ones make up for it. Where stops take long, on a busy machine or with many running threads,
samples are rarer, and each counts for the time since the one before. The end says how much of
the time the counts cover.

kcore samples new threads from their start, and goes on when a thread ends, or when the process
starts another program. At the end it says how often it sampled, how long the process stood
still, what was lost, and what happened to the process. Ctrl-C ends the profile early and
writes it.

With --subprocesses, the processes that it has started, or starts meanwhile, are sampled as well,
each as if it were profiled by itself: the workers of a server, which come and go. The profile
says whose each sample is, and the end what each process cost. It names those that could not be
sampled, and counts those found that ended before they could be: at least so many did.";

const AFTER_LONG_HELP: &str = "\
Examples:
  kcore profile 4711 -o app.svg                 a flame graph, to be opened in a browser
  kcore profile --cpu -d 10 4711 -o app.pb.gz   what uses processors, for pprof
  kcore profile --state R 4711 -o app.json      threads that run, for profiler.firefox.com
  kcore profile --subprocesses 4711 -o app.svg  a server and its workers
  kcore profile 4711 | sort -k2nr | head        folded stacks to standard output

Formats, by the suffix of FILE or by --format:
  folded   .folded .txt       a line for each stack, and its number
  svg      .svg               a flame graph
  pprof    .pb.gz .pb .pprof  pprof's protobuf, packed with gzip
  firefox  .json .json.gz     JSON of the Firefox profiler

Exit status:
  0  written
  1  it could not be written
  2  wrong usage, or the process cannot be looked at";

/// Sample the stacks of a live process
#[derive(Parser, Debug)]
#[command(
    name = "kcore profile",
    bin_name = "kcore profile",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_LONG_HELP,
    override_usage = "kcore profile [OPTIONS] PID [-o FILE]"
)]
pub(crate) struct ProfileArgs {
    /// The process: all of its threads, or those of these ids
    #[arg(value_name = "PID[/TID,..]")]
    process: String,

    /// Write to this file; without it, and for `-`, folded stacks go to standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// The format, if the suffix of FILE does not name it
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<Name>,

    /// Samples of each thread per second
    #[arg(short = 'F', long, value_name = "HZ", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    frequency: u32,

    /// Stop the process for at most this share of the time, in percent; 100 is no limit
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = parse_share)]
    hold: HeldShare,

    /// How many seconds to sample
    #[arg(short, long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    duration: Duration,

    /// Count only threads in these states, by the letters of /proc: R runs, S sleeps, D waits for a disk
    #[arg(long, value_name = "STATES")]
    state: Option<String>,

    /// Count only time on a processor; the kernel takes the samples where it may, and stops no thread unless Python runs
    #[arg(long, conflicts_with = "state")]
    cpu: bool,

    /// Show only functions of machine code; do not decode those of scripts
    #[arg(long)]
    native: bool,

    /// Sample the processes as well that it has started or starts meanwhile, and those that these start
    #[arg(long)]
    subprocesses: bool,

    #[command(flatten)]
    files: FileArgs,

    #[command(flatten)]
    live: LiveArgs,
}

/// Formats by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// A line for each stack, and its number
    Folded,
    /// A flame graph
    Svg,
    /// pprof's protobuf
    Pprof,
    /// JSON of the Firefox profiler
    Firefox,
}

/// What a command line asks for.
pub(crate) struct ProfileRequest {
    pub(crate) target: LiveTarget,
    pub(crate) profile: ProfileOptions,
    /// Whether the processes are sampled that it starts.
    pub(crate) subprocesses: bool,
    pub(crate) options: OpenOptions,
    pub(crate) format: Format,
    /// Whether JSON is packed.
    pub(crate) pack: bool,
}

impl ProfileArgs {
    /// What is asked for.
    ///
    /// # Errors
    /// When no process is named so, or nothing tells the format.
    pub(crate) fn wanted(&self) -> Result<ProfileRequest> {
        let target = self.live.named(&self.process)?;
        if self.subprocesses && matches!(target.options.threads, ThreadChoice::Tids(_)) {
            bail!("--subprocesses samples all threads: give PID, or PID/STATES");
        }
        let profile = ProfileOptions {
            live: target.options.clone(),
            frequency: self.frequency,
            held: self.hold,
            duration: self.duration,
            states: self.states()?,
            on_cpu: self.cpu,
            native: self.native,
        };
        let options = self.files.options()?;
        let pack = self.output.extension().is_some_and(|end| end == "gz");
        let (format, subprocesses) = (self.format()?, self.subprocesses);
        Ok(ProfileRequest { target, profile, subprocesses, options, format, pack })
    }

    fn states(&self) -> Result<Option<String>> {
        const STATES: &str = "RSDTtI";
        match &self.state {
            Some(states) if states.is_empty() || !states.chars().all(|it| STATES.contains(it)) => {
                bail!("{states}: no states of threads ({STATES})")
            }
            states => Ok(states.clone()),
        }
    }

    fn format(&self) -> Result<Format> {
        let name = self.output.to_string_lossy();
        match self.format {
            Some(Name::Folded) => Ok(Format::Folded),
            Some(Name::Svg) => Ok(Format::Svg),
            Some(Name::Pprof) => Ok(Format::Pprof),
            Some(Name::Firefox) => Ok(Format::Firefox),
            None if name == "-" => Ok(Format::Folded),
            None => match Format::of_name(&name) {
                Some(format) => Ok(format),
                None => bail!(
                    "{name}: no suffix that tells a format (.folded .svg .pb.gz .json, or --format)"
                ),
            },
        }
    }
}

pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let digits = text.strip_suffix('s').unwrap_or(text);
    let seconds = digits.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "a number of seconds, such as 30 or 0.5".to_owned())
}

pub(crate) fn parse_share(text: &str) -> Result<HeldShare, String> {
    let digits = text.strip_suffix('%').unwrap_or(text);
    let share = digits.parse().ok().and_then(HeldShare::of_percent);
    share.ok_or_else(|| "a number above 0, at most 100, such as 2 or 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn wanted(words: &[&str]) -> Result<ProfileRequest, String> {
        let words = std::iter::once("kcore profile").chain(words.iter().copied());
        let args = ProfileArgs::try_parse_from(words).map_err(|error| error.to_string())?;
        args.wanted().map_err(|error| error.to_string())
    }

    #[test]
    fn the_declaration_is_sound() {
        ProfileArgs::command().debug_assert();
    }

    #[test]
    fn the_suffix_tells_the_format_unless_an_option_does() {
        let plain = wanted(&["7"]).unwrap();
        assert_eq!((plain.format, plain.profile.frequency), (Format::Folded, 100));
        assert_eq!(plain.profile.duration, Duration::from_secs(30));
        assert_eq!(wanted(&["7", "-o", "a.svg"]).unwrap().format, Format::Svg);
        assert_eq!(wanted(&["7", "--format", "pprof", "-o", "-"]).unwrap().format, Format::Pprof);
        assert!(wanted(&["7", "-o", "a.json.gz"]).unwrap().pack);
        assert!(wanted(&["7", "-o", "a"]).is_err_and(|said| said.contains("--format")));
    }

    #[test]
    fn threads_are_not_chosen_of_several_processes() {
        assert!(wanted(&["7", "--subprocesses"]).unwrap().subprocesses);
        assert!(wanted(&["7/RD", "--subprocesses"]).is_ok());
        let refused = wanted(&["7/8", "--subprocesses"]);
        assert!(refused.is_err_and(|said| said.contains("samples all threads")));
    }

    #[test]
    fn states_and_times_are_checked() {
        assert_eq!(wanted(&["7", "--state", "RD"]).unwrap().profile.states.as_deref(), Some("RD"));
        assert!(wanted(&["7", "--state", "Q"]).is_err());
        for wrong in ["0", "-1", "x", "1e99", "nan"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_seconds("1.5s"), Ok(Duration::from_millis(1500)));
    }

    #[test]
    fn the_share_of_the_time_that_a_process_is_held_for_is_two_percent_unless_told() {
        let share = |percent| HeldShare::of_percent(percent).unwrap();
        assert_eq!(wanted(&["7"]).unwrap().profile.held, share(2.0));
        assert_eq!(wanted(&["7", "--hold", "0.5%"]).unwrap().profile.held, share(0.5));
        for wrong in ["0", "-1", "101", "x", "nan"] {
            assert!(wanted(&["7", &format!("--hold={wrong}")]).is_err(), "{wrong}");
        }
    }
}
