//! `kcore watch`: what of a live process does not move.

mod args;
mod records;
mod watched_process;
mod watcher;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use kcore_dcmd::{DcmdError, Sink};
use kcore_shell::Status;

pub(crate) use args::WatchArgs;

use crate::args::USAGE;
use crate::save::{self, Saving};
use crate::{live, output, run};
use watched_process::{WatchedProcess, reason};
use watcher::{Outcome, Watcher};

/// Exit status when no condition came to hold.
const FAILED: u8 = 1;

/// Watches a process, and tells what did not move.
pub(crate) fn run(args: &WatchArgs) -> ExitCode {
    match try_run(args) {
        Ok(code) => code,
        Err(error) => {
            say(&format!("{error:#}"));
            ExitCode::from(USAGE)
        }
    }
}

/// Nobody may read it any more.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "kcore: {line}");
}

fn try_run(args: &WatchArgs) -> Result<ExitCode> {
    let mut watcher = Watcher::start(args)?;
    say_beforehand(args, &watcher);
    let outcome = watcher.run();
    let nothing_is_known = watcher.watch.intervals() == 0 && watcher.places.snapshots() == 0;
    if let (Outcome::Lost(why), true) = (&outcome, nothing_is_known) {
        bail!("{why}");
    }
    say_outcome(&outcome, args);
    match (&outcome, &args.output) {
        (Outcome::Held(..), Some(output)) => Ok(save_core(args, watcher, output)),
        (_, Some(_)) => Ok(ExitCode::from(FAILED)),
        (Outcome::Held(..), None) if args.commands.is_empty() => show_then(args, watcher, outcome),
        (Outcome::Held(..), None) => run_commands(args, watcher, &outcome),
        _ => show(args, &watcher, &outcome),
    }
}

fn say_beforehand(args: &WatchArgs, watcher: &Watcher<'_>) {
    let texts: Vec<&str> = args.until.iter().map(|wanted| wanted.text.as_str()).collect();
    let what = match texts.as_slice() {
        [] => {
            let seconds = args.interval.as_secs_f64();
            format!("{} snapshots, {seconds} s between two", args.intervals.saturating_add(1))
        }
        texts => format!("waiting for {}", texts.join(", ")),
    };
    say(&format!("process {}: {what}", watcher.target.pid));
}

fn say_outcome(outcome: &Outcome, args: &WatchArgs) {
    let pid = &args.process;
    say(&match outcome {
        Outcome::Watched => return,
        Outcome::Held(wanted, now) => format!("{} holds: {}", wanted.text, reason(wanted, now)),
        Outcome::Ended => format!("process {pid} ended: the rest is of the time before"),
        Outcome::OtherProgram => {
            format!("process {pid} started another program: the rest is of the one before")
        }
        Outcome::TimeOver => "no condition held in time".to_owned(),
        Outcome::Stopped => "stopped early".to_owned(),
        Outcome::Lost(why) => why.clone(),
    });
}

fn save_core(args: &WatchArgs, watcher: Watcher<'_>, output: &Path) -> ExitCode {
    let files = watcher.files.clone();
    save::save(&Saving {
        live: watcher.target,
        what: args.what.what(),
        output,
        pack: args.what.packs(output),
        files,
    })
}

/// Takes the snapshot of a moment at which a condition holds, and shows it.
fn show_then(args: &WatchArgs, mut watcher: Watcher<'_>, outcome: Outcome) -> Result<ExitCode> {
    match watcher.add_snapshot() {
        Ok(()) => show(args, &watcher, &outcome),
        Err(lost) => {
            say_outcome(&lost, args);
            show(args, &watcher, &lost)
        }
    }
}

/// Takes that snapshot, and runs the commands.
fn run_commands(args: &WatchArgs, mut watcher: Watcher<'_>, outcome: &Outcome) -> Result<ExitCode> {
    let core = match watcher.snapshot() {
        Ok(core) => core,
        Err(lost) => {
            say_outcome(&lost, args);
            return show(args, &watcher, &lost);
        }
    };
    let facts = core.snapshot().facts();
    let notes = facts.map(|facts| live::notes(watcher.target.pid, &facts, core.threads().len()));
    let format = output::format(args.json, args.color, core.target().word_size());
    let mut session = run::session(core, format);
    let typed = args.commands.iter().map(|command| command.to_string_lossy().into_owned());
    let commands: Vec<String> = typed.collect();
    with_sink(args, |sink| {
        for note in notes.into_iter().flatten() {
            let _ = sink.note(&note);
        }
        sink.put(&WatchedProcess::of(&watcher, outcome))?;
        Ok(run::each(&mut session, &commands, sink))
    })
    .map(|status| match status.is_some_and(Status::failed) {
        true => ExitCode::from(FAILED),
        false => ExitCode::SUCCESS,
    })
}

fn show(args: &WatchArgs, watcher: &Watcher<'_>, outcome: &Outcome) -> Result<ExitCode> {
    with_sink(args, |sink| {
        sink.put(&WatchedProcess::of(watcher, outcome))?;
        records::put(&watcher.watch, &watcher.places, sink)
    })?;
    Ok(match outcome {
        Outcome::Watched | Outcome::Held(..) => ExitCode::SUCCESS,
        Outcome::Stopped if args.until.is_empty() => ExitCode::SUCCESS,
        _ => ExitCode::from(FAILED),
    })
}

/// Writes to where results go; `None` when nobody reads them any more.
fn with_sink<T>(
    args: &WatchArgs,
    write: impl FnOnce(&mut dyn Sink) -> Result<T, DcmdError>,
) -> Result<Option<T>> {
    const WORD: usize = 8;
    let format = output::format(args.json, args.color, WORD);
    let name = format!("process {}", args.process);
    let written = output::sink(format, args.color, None, Some(&name)).and_then(|mut sink| {
        let written = write(sink.as_mut())?;
        sink.finish()?;
        Ok(written)
    });
    match written {
        Ok(written) => Ok(Some(written)),
        Err(DcmdError::Closed) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
