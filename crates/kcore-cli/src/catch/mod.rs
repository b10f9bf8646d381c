//! `kcore catch`: a live process at the moment when something happens in it.

mod args;
mod event;
mod record;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use kcore::{Event, LiveError, LiveMoment, LiveProcess, OpenError, can_filter_calls};
use kcore_dcmd::DcmdError;

pub(crate) use args::CatchArgs;
pub(crate) use record::CaughtEvent;

use crate::args::USAGE;
use crate::live::{self, LiveTarget};
use crate::save::{self, Saving};
use crate::{folders, output, run};

/// Exit status when nothing was caught.
const FAILED: u8 = 1;
/// What is shown when nobody says what: the stack of the thread, and those of all.
const COMMANDS: [&str; 2] = ["::stack", "::stacks"];

/// Waits, and shows or saves.
pub(crate) fn run(args: &CatchArgs) -> ExitCode {
    match try_run(args) {
        Ok(code) => code,
        Err(error) => {
            say(&format!("{error:#}"));
            let is_over = error.downcast_ref::<OpenError>().is_some_and(is_over);
            ExitCode::from(if is_over { FAILED } else { USAGE })
        }
    }
}

/// Whether a wait ended without an event.
pub(crate) const fn is_over(error: &OpenError) -> bool {
    use LiveError::{Ended, NotCaught, OtherProgram, Stopped};
    matches!(error, OpenError::Live(Ended(_) | NotCaught { .. } | OtherProgram(_) | Stopped))
}

/// Nobody may read it any more.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "kcore: {line}");
}

fn try_run(args: &CatchArgs) -> Result<ExitCode> {
    let mut live = args.live.named(&args.process)?;
    LiveProcess::of(live.pid).check()?;
    let mut snapshot =
        || Ok(LiveProcess::of(live.pid).snapshot(&live.options, &args.files.options()?)?);
    let events: Result<Vec<Event>> =
        args.events.iter().map(|word| event::parse(word, &mut snapshot)).collect();
    let events = events?;
    say_beforehand(args, &events, &live);
    live.options.when = Some(LiveMoment { events, within: args.within });
    match &args.output {
        Some(output) => Ok(save::save(&Saving {
            live,
            what: args.what.what(),
            output,
            pack: args.what.packs(output),
            files: args.files.options()?,
        })),
        None => show(args, &live),
    }
}

/// What is waited for, and what that costs the process.
fn say_beforehand(args: &CatchArgs, events: &[Event], live: &LiveTarget) {
    say(&format!("process {}: waiting for {}", live.pid, args.events.join(", ")));
    let calls = events.iter().any(|event| matches!(event, Event::Call { .. }));
    if calls && !can_filter_calls() {
        say(
            "the kernel does not look for system calls of others here: each call of the process stops its thread twice",
        );
    }
}

/// Takes a snapshot of the moment, and runs the commands.
fn show(args: &CatchArgs, live: &LiveTarget) -> Result<ExitCode> {
    let options = kcore::OpenOptions { cache_dir: folders::cache(), ..args.files.options()? };
    let core = LiveProcess::of(live.pid).snapshot(&live.options, &options)?;
    let facts = core.snapshot().facts();
    let notes = facts.as_ref().map(|facts| live::notes(live.pid, facts, core.threads().len()));
    let caught = facts.and_then(|facts| facts.caught);
    let caught = caught.map(|caught| CaughtEvent::of(&caught, Some(&core)));
    let format = output::format(args.json, args.color, core.target().word_size());
    let mut session = run::session(core, format);
    let name = format!("process {}", live.pid);
    let mut sink = match output::sink(format, args.color, None, Some(&name)) {
        Ok(sink) => sink,
        Err(DcmdError::Closed) => return Ok(ExitCode::SUCCESS),
        Err(error) => return Err(error.into()),
    };
    for note in notes.into_iter().flatten() {
        let _ = sink.note(&note);
    }
    if let Some(caught) = &caught {
        let _ = sink.put(caught);
    }
    let typed = args.commands.iter().map(|command| command.to_string_lossy().into_owned());
    let mut commands: Vec<String> = typed.collect();
    if commands.is_empty() {
        commands = COMMANDS.map(str::to_owned).into();
    }
    let status = run::each(&mut session, &commands, sink.as_mut());
    let _ = sink.finish();
    Ok(if status.failed() { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}
