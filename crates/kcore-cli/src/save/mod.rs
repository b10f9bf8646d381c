//! `kcore save`: a live process as a core.

mod args;
mod summary;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use kcore::{CoreTarget, LiveProcess, OpenOptions, SaveError, SaveProgress, SaveWhat, SavedCore};
use kcore_render::io_reason;

pub(crate) use args::{SaveArgs, WhatArgs};
pub(crate) use summary::size;

use crate::{args::USAGE, catch::is_over, ends, live::LiveTarget};

/// Exit status when the core could not be written, or is not whole since the process was killed.
const FAILED: u8 = 1;
/// How often it is looked how far the copy has come.
const TICK: Duration = Duration::from_millis(50);
const TEMPLATE: &str =
    "copying {bytes} of {total_bytes} {wide_bar} {eta}, the process stands still";

/// A process that is to be saved, and how.
pub(crate) struct Saving<'a> {
    pub(crate) live: LiveTarget,
    pub(crate) what: SaveWhat,
    /// `-` is standard output.
    pub(crate) output: &'a Path,
    /// Whether the core is packed with zstd.
    pub(crate) pack: bool,
    /// Where the files of the process are.
    pub(crate) files: OpenOptions,
}

impl Saving<'_> {
    fn is_streamed(&self) -> bool {
        self.output.as_os_str() == "-"
    }

    fn target(&self) -> CoreTarget {
        match self.is_streamed() {
            true => CoreTarget::Stdout,
            false => CoreTarget::Path(self.output.to_owned()),
        }
    }
}

/// Saves a process, and says what was saved.
pub(crate) fn run(args: &SaveArgs) -> ExitCode {
    match args.saving() {
        Ok(saving) => save(&saving),
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    say(&format!("{error:#}"));
    ExitCode::from(USAGE)
}

/// Saves a process, and says what was saved.
pub(crate) fn save(saving: &Saving<'_>) -> ExitCode {
    match try_save(saving) {
        Ok(Ok(saved)) => {
            saved.lines.iter().for_each(|line| say(line));
            if saved.ended { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
        }
        Ok(Err(error)) => {
            let (reason, status) = match error {
                SaveError::Write(error) => {
                    (format!("{}: {}", summary::file(saving), io_reason(&error)), FAILED)
                }
                SaveError::Stopped => (error.to_string(), FAILED),
                SaveError::Open(error) if is_over(&error) => (error.to_string(), FAILED),
                other => (other.to_string(), USAGE),
            };
            say(&reason);
            ExitCode::from(status)
        }
        Err(error) => failed(&error),
    }
}

/// A core that there is now.
struct SaveReport {
    /// What is said of it.
    lines: Vec<String>,
    /// Whether the process was killed before all was copied.
    ended: bool,
}

/// Nobody may read it any more.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "kcore: {line}");
}

fn try_save(saving: &Saving<'_>) -> Result<Result<SaveReport, SaveError>> {
    if saving.is_streamed() && io::stdout().is_terminal() {
        anyhow::bail!("standard output is a terminal: a core is no text (-o FILE)");
    }
    let progress = SaveProgress::default();
    let LiveTarget { pid, options } = &saving.live;
    let work = || {
        let to = (&saving.target(), saving.pack);
        LiveProcess::of(*pid).save(saving.what, options, &saving.files, to, &progress)
    };
    let saved = match saving.what {
        SaveWhat::Filtered | SaveWhat::Everything => watched(&progress, work)?,
        // It is over in a moment, and what ends it lets the process go at once and leaves nothing.
        SaveWhat::Stacks | SaveWhat::Decoders => work(),
    };
    Ok(saved.map(|core: SavedCore| SaveReport {
        lines: summary::lines(saving, &core),
        ended: core.saved.ended,
    }))
}

/// Does the work, shows how far it is, and ends it when somebody wants that.
fn watched<T: Send>(progress: &SaveProgress, work: impl FnOnce() -> T + Send) -> Result<T> {
    ends::set(&progress.stop)?;
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style);
    }
    thread::scope(|scope| {
        let working = thread::Builder::new().spawn_scoped(scope, work);
        let working = working.context("cannot make a thread")?;
        let mut stopped = None;
        while !working.is_finished() {
            if progress.stop.load(Ordering::Relaxed) {
                end_if_late(*stopped.get_or_insert_with(Instant::now));
            }
            let total = progress.total.load(Ordering::Relaxed);
            if total > 0 {
                bar.set_length(total);
                bar.set_position(progress.copied.load(Ordering::Relaxed));
            }
            thread::sleep(TICK);
        }
        bar.finish_and_clear();
        working.join().map_err(|_| anyhow::anyhow!("saving ended in a panic"))
    })
}

/// Ends kcore some time after a signal, whatever it waits for: a disk that does not answer, or who reads
/// the core. The system lets the process go then, and a file that has no name yet is gone.
fn end_if_late(stopped: Instant) {
    const PATIENCE: Duration = Duration::from_millis(500);
    if stopped.elapsed() > PATIENCE {
        say(&SaveError::Stopped.to_string());
        std::process::exit(i32::from(FAILED));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_parses() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
