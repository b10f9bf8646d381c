//! The interactive shell: reads lines from a user and runs them.

mod helper;
mod highlight;
mod hint;
mod lines;

use std::path::PathBuf;
use std::sync::Arc;

use kcore_dcmd::Sink;
use kcore_render::Screen;
use rustyline::error::ReadlineError;

use crate::session::{Session, Source};
use crate::status::{Status, Stop};
use lines::{Lines, Typed};

/// What runs a line that a user typed.
pub type RunLine<'a> = dyn FnMut(&mut Session, &str, &mut dyn Sink) -> Status + 'a;

/// Presses of ctrl-D in a row after which a user leaves, whatever the settings say: a terminal that is
/// gone says nothing else.
const ENDS: usize = 10;
const IGNORED_END: &str = "kcore: type ::quit to leave";

/// How the interactive shell talks to its user.
#[derive(Clone, Default)]
pub struct ReplOptions {
    /// Where history is kept between runs; its folder is made when it is missing.
    pub history: Option<PathBuf>,
    /// Talk to the terminal even where standard input is something else.
    pub prefer_terminal: bool,
    /// Whether what is typed is coloured.
    pub styled: bool,
    /// The terminal; without one nothing is paged.
    pub screen: Option<Arc<dyn Screen>>,
}

/// Why the interactive shell could not go on.
#[derive(Debug, thiserror::Error)]
#[error("cannot read from the terminal: {0}")]
pub struct ReplError(#[from] ReadlineError);

/// Reads lines from the user and runs them until the user leaves: by ctrl-D, by a command, or because
/// nobody reads what is shown.
///
/// # Errors
/// When the terminal cannot be read.
pub fn run(
    session: &mut Session,
    sink: &mut dyn Sink,
    options: &ReplOptions,
) -> Result<(), ReplError> {
    run_with(session, sink, options, &mut |session, line, sink| {
        session.eval_from(Source::Terminal, line, sink)
    })
}

/// The same, with lines that `run` takes in place of the session.
///
/// # Errors
/// When the terminal cannot be read.
pub fn run_with(
    session: &mut Session,
    sink: &mut dyn Sink,
    options: &ReplOptions,
    run: &mut RunLine<'_>,
) -> Result<(), ReplError> {
    let mut lines = Lines::open(session, options)?;
    let mut ends = 0;
    loop {
        match lines.next(session, sink)? {
            Typed::Text(text) => {
                ends = 0;
                let status = run_lines(session, &text, sink, run);
                if matches!(status.stop(), Some(Stop::Quit | Stop::Closed)) {
                    return Ok(());
                }
            }
            Typed::Abandoned => {}
            Typed::End if session.settings.ignore_eof && ends < ENDS => {
                ends += 1;
                // A hint that nobody reads is not an error.
                let _ = sink.hint(IGNORED_END);
            }
            Typed::End => return Ok(()),
        }
    }
}

/// Runs what was typed or pasted, line by line, until one of them stops the others. Of several each is
/// shown again, so that it can be seen which of them said what.
fn run_lines(
    session: &mut Session,
    text: &str,
    sink: &mut dyn Sink,
    run: &mut RunLine<'_>,
) -> Status {
    if !text.contains('\n') {
        return run_line(session, text, sink, run);
    }
    let mut status = Status::DONE;
    for line in text.lines() {
        let prompt = &session.settings.prompt;
        if sink.hint(&format!("{prompt}{line}")).is_err() {
            return Status::stopped(Stop::Closed);
        }
        status = status.then(run_line(session, line, sink, run));
        if status.stops() {
            break;
        }
    }
    status
}

fn run_line(
    session: &mut Session,
    line: &str,
    sink: &mut dyn Sink,
    run: &mut RunLine<'_>,
) -> Status {
    sink.begin_line(session.settings.pager);
    run(session, line, sink)
}
