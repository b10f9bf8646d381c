//! `kcore profile`: where a live process spends its time.

mod args;
mod processes;
mod summary;

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use kcore::profile::{Format, Profile, WriteError, write};
use kcore::{LiveProcess, NewFile, OpenError, ProcessesCost, ProfileCost, ProfileProgress};
use kcore_render::io_reason;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use args::ProfileRequest;
pub(crate) use args::{ProfileArgs, parse_seconds, parse_share};

use crate::args::USAGE;
use crate::ends;
use crate::target::shown;

/// Exit status when nothing could be written.
const FAILED: u8 = 1;
const TICK: Duration = Duration::from_millis(100);
const TEMPLATE: &str = "sampling {wide_bar} {msg} samples, {prefix}";

/// Takes a profile, writes it, and says what it cost.
pub(crate) fn run(args: &ProfileArgs) -> ExitCode {
    match try_run(args) {
        Ok(lines) => {
            lines.iter().for_each(|line| say(line));
            ExitCode::SUCCESS
        }
        Err(error) => {
            say(&format!("{error:#}"));
            ExitCode::from(if error.is::<Unwritten>() { FAILED } else { USAGE })
        }
    }
}

/// Nobody may read it any more.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "kcore: {line}");
}

/// Why a profile was not written.
#[derive(Debug)]
struct Unwritten(String);

impl std::fmt::Display for Unwritten {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unwritten {}

fn try_run(args: &ProfileArgs) -> Result<Vec<String>> {
    let wanted = args.wanted()?;
    let to = &args.output;
    if is_stdout(to) && wanted.format != Format::Folded && io::stdout().is_terminal() {
        anyhow::bail!("standard output is a terminal: give a file (-o FILE)");
    }
    // Half a minute is not spent for a file that cannot be.
    let end = End::open(to).map_err(|error| unwritten(to, &WriteError::Io(error)))?;
    let (profile, cost) = watched(&wanted)?;
    end.write(&profile, &wanted).map_err(|error| unwritten(to, &error))?;
    Ok(match &cost {
        Cost::OfOne(cost) => summary::lines(to, &wanted, &profile, cost),
        Cost::OfSeveral(cost) => processes::lines(to, &wanted, &profile, cost),
    })
}

fn unwritten(to: &Path, error: &WriteError) -> Unwritten {
    let name = if is_stdout(to) { "standard output".to_owned() } else { shown(to) };
    Unwritten(match error {
        WriteError::Io(error) => format!("{name}: {}", io_reason(error)),
        other => format!("{name}: {other}"),
    })
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Where a profile goes to.
enum End {
    Stream(Box<dyn Write>),
    File(NewFile),
}

impl End {
    fn open(path: &Path) -> io::Result<Self> {
        let kind = std::fs::metadata(path).map(|data| data.file_type());
        let is_stream = kind.is_ok_and(|kind| kind.is_fifo() || kind.is_char_device());
        Ok(match path {
            path if is_stdout(path) => Self::Stream(Box::new(io::stdout())),
            path if is_stream => Self::Stream(Box::new(File::options().write(true).open(path)?)),
            path => Self::File(NewFile::create(path)?),
        })
    }

    fn write(self, profile: &Profile, wanted: &ProfileRequest) -> Result<(), WriteError> {
        match self {
            Self::Stream(mut to) => match write(profile, wanted.format, wanted.pack, &mut to) {
                // Who reads no further has had enough.
                Err(WriteError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                written => written,
            },
            Self::File(new) => {
                write(profile, wanted.format, wanted.pack, &mut new.file()?)?;
                Ok(new.finish()?)
            }
        }
    }
}

/// What a profile cost.
enum Cost {
    OfOne(ProfileCost),
    OfSeveral(ProcessesCost),
}

/// Samples the process, or it and those that it starts.
fn sampled(
    wanted: &ProfileRequest,
    progress: &ProfileProgress,
) -> Result<(Profile, Cost), OpenError> {
    let (pid, options) = (wanted.target.pid, &wanted.options);
    if wanted.subprocesses {
        allow_files();
        let (profile, cost) =
            LiveProcess::of(pid).profile_with_children(&wanted.profile, options, progress)?;
        return Ok((profile, Cost::OfSeveral(cost)));
    }
    let (profile, cost) = LiveProcess::of(pid).profile(&wanted.profile, options, progress)?;
    Ok((profile, Cost::OfOne(cost)))
}

/// Allows as many open files as may be: each process that is sampled takes some of `/proc`, and one of many threads
/// hundreds. Where that is refused, what cannot be opened is said.
fn allow_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// Samples, shows how far it is, and ends it when somebody wants that.
fn watched(wanted: &ProfileRequest) -> Result<(Profile, Cost)> {
    let progress = ProfileProgress::default();
    ends::set(&progress.stop)?;
    let work = || sampled(wanted, &progress);
    let taken = thread::scope(|scope| {
        let working = thread::Builder::new().spawn_scoped(scope, work);
        let working = working.context("cannot make a thread")?;
        let mut bar = None;
        while !working.is_finished() {
            if progress.begun.load(Ordering::Relaxed) {
                let (bar, begun) = bar.get_or_insert_with(|| (new_bar(wanted), Instant::now()));
                show(bar, begun.elapsed(), wanted, &progress);
            }
            thread::sleep(TICK);
        }
        if let Some((bar, _)) = bar {
            bar.finish_and_clear();
        }
        working.join().map_err(|_| anyhow::anyhow!("sampling ended in a panic"))
    });
    Ok(taken??)
}

fn new_bar(wanted: &ProfileRequest) -> ProgressBar {
    let millis = wanted.profile.duration.as_millis();
    let bar = ProgressBar::new(u64::try_from(millis).unwrap_or(u64::MAX));
    // A style that does not parse leaves the default one.
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style);
    }
    bar
}

fn show(bar: &ProgressBar, elapsed: Duration, wanted: &ProfileRequest, progress: &ProfileProgress) {
    bar.set_position(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
    bar.set_message(progress.samples.load(Ordering::Relaxed).to_string());
    let left = wanted.profile.duration.saturating_sub(elapsed);
    bar.set_prefix(format!("{} s left", left.as_secs()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_parses() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
