//! `kcore watch`: what of a live process does not move.

mod args;
mod records;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use kcore::watch::{Looked, Places, Watch};
use kcore::{Core, ThreadChoice};

pub(crate) use args::WatchArgs;

use crate::args::{Color, USAGE};
use crate::live::LiveTarget;
use crate::{ends, output};

/// Exit status when no condition came to hold.
const FAILED: u8 = 1;
/// How often it is looked whether somebody wants an end.
const TICK: Duration = Duration::from_millis(20);
/// Time for threads to go back to what they waited in after a stop.
const SETTLE: Duration = Duration::from_millis(20);

/// How watching ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    Ended,
    OtherProgram,
    TimeOver,
    Stopped,
}

/// Watches a process, and tells what did not move.
pub(crate) fn run(args: &WatchArgs) -> ExitCode {
    match try_run(args) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(_) if args.until.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(FAILED),
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

fn try_run(args: &WatchArgs) -> Result<Outcome> {
    let target = args.live.named(&args.process)?;
    if target.options.threads != ThreadChoice::All {
        bail!("{}: all threads are watched: give a process id alone", args.process);
    }
    let stop = Arc::new(AtomicBool::new(false));
    ends::set(&stop)?;
    let mut watch = Watch::start(target.pid)?;
    let mut places = Places::default();
    let outcome = if args.until.is_empty() {
        take_looks(args, &target, (&mut watch, &mut places), &stop)?
    } else {
        wait(args, &target, (&mut watch, &mut places), &stop)?
    };
    say_outcome(outcome, args);
    show(args, &watch, &places)?;
    Ok(outcome)
}

fn take_looks(
    args: &WatchArgs,
    target: &LiveTarget,
    (watch, places): (&mut Watch, &mut Places),
    stop: &AtomicBool,
) -> Result<Outcome> {
    places.add(&Core::of_process(target.pid, &target.options, &args.files.options())?);
    for _ in 0..args.intervals {
        thread::sleep(SETTLE);
        if let Some(outcome) = outcome_of(watch.begin_interval()?) {
            return Ok(outcome);
        }
        sleep(args.interval, stop);
        if let Some(outcome) = outcome_of(watch.look()?) {
            return Ok(outcome);
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(Outcome::Stopped);
        }
        places.add(&Core::of_process(target.pid, &target.options, &args.files.options())?);
    }
    Ok(Outcome::Done)
}

fn wait(
    args: &WatchArgs,
    target: &LiveTarget,
    (watch, places): (&mut Watch, &mut Places),
    stop: &AtomicBool,
) -> Result<Outcome> {
    let begun = Instant::now();
    loop {
        if args.until.iter().any(|condition| condition.holds(&watch.measures())) {
            places.add(&Core::of_process(target.pid, &target.options, &args.files.options())?);
            return Ok(Outcome::Done);
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(Outcome::Stopped);
        }
        if args.limit.is_some_and(|limit| begun.elapsed() >= limit) {
            return Ok(Outcome::TimeOver);
        }
        sleep(args.interval, stop);
        match watch.look()? {
            Looked::Ended => return Ok(Outcome::Ended),
            Looked::OtherProgram => say("the process started another program: watching that one"),
            Looked::Runs => {}
        }
    }
}

const fn outcome_of(looked: Looked) -> Option<Outcome> {
    match looked {
        Looked::Runs => None,
        Looked::Ended => Some(Outcome::Ended),
        Looked::OtherProgram => Some(Outcome::OtherProgram),
    }
}

fn sleep(time: Duration, stop: &AtomicBool) {
    let begun = Instant::now();
    while begun.elapsed() < time && !stop.load(Ordering::Relaxed) {
        thread::sleep(TICK.min(time.saturating_sub(begun.elapsed())));
    }
}

fn say_outcome(outcome: Outcome, args: &WatchArgs) {
    let pid = &args.process;
    match outcome {
        Outcome::Done => {}
        Outcome::Ended => say(&format!("process {pid} ended: what follows was true before")),
        Outcome::OtherProgram => {
            say(&format!("process {pid} started another program: watch it anew"));
        }
        Outcome::TimeOver => say("the time is over, and no condition held"),
        Outcome::Stopped => say("stopped early"),
    }
}

fn show(args: &WatchArgs, watch: &Watch, places: &Places) -> Result<()> {
    const WORD: usize = 8;
    let format = output::format(args.json, Color::Auto, WORD);
    let name = format!("process {}", args.process);
    let shown = output::sink(format, Color::Auto, None, Some(&name)).and_then(|mut sink| {
        records::put(watch, places, sink.as_mut())?;
        sink.finish()
    });
    match shown {
        Ok(()) | Err(kcore_dcmd::DcmdError::Closed) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
