//! The interactive shell: a glance at what died, then the prompt.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use kcore::Core;
use kcore_dcmd::{Sink, stack::MAX_GROUP_FRAMES};
use kcore_shell::repl::{self, ReplOptions};
use kcore_shell::{Session, Status, Stop};
use signal_hook::consts::SIGINT;

/// What everybody asks first.
const GLANCE: &str = "::status";
/// What everybody must know first.
const WELCOME: &str = "::help shows what can be asked, ::quit leaves";
/// Threads that are looked at before the first prompt. Nobody waits for those of more.
const MAX_THREADS: usize = 1024;

/// Shows the glance, unless `is_quiet`, then runs what the user types until the user leaves.
///
/// # Errors
/// When the terminal cannot be read.
pub(crate) fn run(
    session: &mut Session,
    sink: &mut dyn Sink,
    interrupt: &Arc<AtomicBool>,
    options: &ReplOptions,
    is_quiet: bool,
) -> Result<Status> {
    // From here on ctrl-C stops a command and not the program.
    signal_hook::flag::register(SIGINT, Arc::clone(interrupt)).context("cannot catch ctrl-C")?;
    if !is_quiet && !open(session, sink) {
        return Ok(Status::DONE);
    }
    repl::run(session, sink, options)?;
    // Who tries things out fails at times: that is no failure of the session.
    Ok(Status::DONE)
}

/// What is shown before the first prompt; whether anybody reads it.
fn open(session: &mut Session, sink: &mut dyn Sink) -> bool {
    if session.eval(GLANCE, sink).stop() == Some(Stop::Closed) {
        return false;
    }
    // On a terminal the prompt below it sets it off; in a pipe an empty line does. Who reads no hints has no need of
    // them.
    if !io::stdout().is_terminal() {
        let _ = sink.hint("");
    }
    if sink.is_for_people() {
        let lines = [cause(session.core()), overview(session.core())];
        lines.into_iter().flatten().for_each(|line| {
            let _ = sink.hint(&line);
        });
    }
    let _ = sink.hint(WELCOME);
    true
}

/// Why the process died or hangs, if that is known, and what shows the evidence.
fn cause(core: &Core) -> Option<String> {
    if core.tids().len() > MAX_THREADS {
        return None;
    }
    let analysis = core.analyze();
    let first = analysis.findings.first()?;
    Some(format!(
        "{} ({}): ::analyze shows the evidence",
        first.sentence,
        first.confidence.as_str()
    ))
}

/// How many threads stand in how many stacks, and what shows these; `None` without threads.
fn overview(core: &Core) -> Option<String> {
    let tids = core.tids();
    let whose =
        if core.crashed_thread().is_some() { "of the crash" } else { "of the first thread" };
    match tids.len() {
        0 => None,
        1 => Some("1 thread: $C shows its stack".to_owned()),
        threads if threads > MAX_THREADS => Some(format!(
            "{threads} threads: $C shows the stack {whose}, ::stacks those of all threads"
        )),
        threads => {
            let stacks = core.stacks().groups(&tids, &[], MAX_GROUP_FRAMES).len();
            let plural = if stacks == 1 { "" } else { "s" };
            Some(format!(
                "{threads} threads in {stacks} stack{plural}: $C shows that {whose}, ::stacks all of them"
            ))
        }
    }
}
