//! `kcore tutorial`: ten questions about a core that comes with the program.

mod args;
mod fact;
mod folder;
mod lesson;
mod questions;

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use kcore::Core;
use kcore_dcmd::{DcmdError, Sink};
use kcore_render::Screen;
use kcore_shell::repl::{self, ReplOptions};
use kcore_shell::{Session, Stop};
use signal_hook::consts::SIGINT;

pub(crate) use args::TutorialArgs;

use crate::terminal::Terminal;
use crate::{args::USAGE, output, run};
use folder::Folder;
use lesson::Lesson;

/// Runs the tutorial. Who gives a wrong answer, or leaves early, has not failed.
pub(crate) fn run(args: &TutorialArgs) -> ExitCode {
    match try_run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "kcore: {error:#}");
            ExitCode::from(USAGE)
        }
    }
}

fn try_run(args: &TutorialArgs) -> Result<()> {
    let folder = Folder::new()?;
    let core = Core::open(&folder.options())?;
    let interrupt = Arc::clone(core.budget().interrupt());
    let is_user = io::stdin().is_terminal();
    let screen = if is_user { Terminal::open(&interrupt) } else { None };
    let screen = screen.map(|screen| Arc::new(screen) as Arc<dyn Screen>);
    let format = output::format(None, args.color, core.target().word_size());
    let mut session = run::session(core, format);
    let mut lesson = Lesson::new(Arc::clone(session.core()));
    let mut sink = match output::sink(format, args.color, screen.clone(), None) {
        Err(DcmdError::Closed) => return Ok(()),
        sink => sink?,
    };
    let sink = sink.as_mut();
    if lesson.begin(sink).is_err() {
        return Ok(());
    }
    if is_user {
        // From here on ctrl-C stops a command and not the program.
        signal_hook::flag::register(SIGINT, interrupt).context("cannot catch ctrl-C")?;
        let options = repl_options(args, screen);
        repl::run_with(&mut session, sink, &options, &mut |session, line, sink| {
            lesson.line(session, line, sink)
        })?;
    } else {
        from_pipe(&mut session, &mut lesson, sink)?;
    }
    // Nobody may be there to read the score.
    let _ = lesson.end(sink);
    Ok(())
}

/// Answers and attempts are not kept among the lines of real sessions.
fn repl_options(args: &TutorialArgs, screen: Option<Arc<dyn Screen>>) -> ReplOptions {
    ReplOptions {
        prefer_terminal: !io::stdout().is_terminal(),
        styled: output::is_terminal_styled(args.color),
        screen,
        ..ReplOptions::default()
    }
}

/// Runs the lines of standard input until they end or one of them leaves the tutorial.
fn from_pipe(session: &mut Session, lesson: &mut Lesson, sink: &mut dyn Sink) -> Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line.context("standard input")?;
        let status = lesson.line(session, &line, sink);
        if matches!(status.stop(), Some(Stop::Quit | Stop::Closed)) {
            break;
        }
    }
    Ok(())
}
