//! The interactive shell: a glance at what died, then the prompt.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use kcore_dcmd::Sink;
use kcore_shell::repl::{self, ReplOptions};
use kcore_shell::{Session, Status, Stop};
use signal_hook::consts::SIGINT;

/// What everybody asks first.
const GLANCE: &str = "::status";
/// What everybody must know first.
const WELCOME: &str = "::help shows what can be asked, ::quit leaves";

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
    let _ = sink.hint(WELCOME);
    true
}
