//! The interactive shell: prompt, history, completion, and what ctrl-C and ctrl-D mean.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use kcore_dcmd::{DcmdError, Sink};
use rustyline::completion::Completer as CompletesLine;
use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Behavior, CompletionType, Config, Context, Editor, Helper};

use crate::complete::Completer;
use crate::session::{Session, Source};
use crate::status::Stop;

const PROMPT: &str = "> ";
const HISTORY_LINES: usize = 1000;
/// Reads in a row that may fail before the terminal is given up.
const BAD_READS: usize = 16;

/// How the interactive shell talks to its user.
#[derive(Clone, Debug, Default)]
pub struct ReplOptions {
    /// Where history is kept between runs; its folder is made when it is missing.
    pub history: Option<PathBuf>,
    /// Talk to the terminal even where standard input is something else.
    pub prefer_terminal: bool,
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
    let mut lines = Lines::open(session, options)?;
    while let Some(line) = lines.next(sink)? {
        let status = session.eval_from(Source::Terminal, &line, sink);
        if matches!(status.stop(), Some(Stop::Quit | Stop::Closed)) {
            break;
        }
    }
    Ok(())
}

/// The lines that a user types.
struct Lines {
    editor: Editor<LineHelper, DefaultHistory>,
    history: Option<PathBuf>,
}

impl Lines {
    fn open(session: &Session, options: &ReplOptions) -> Result<Self, ReplError> {
        let behavior = if options.prefer_terminal { Behavior::PreferTerm } else { Behavior::Stdio };
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .history_ignore_dups(true)?
            .behavior(behavior)
            .build();
        let mut editor = Editor::with_config(config)?;
        editor.set_max_history_size(HISTORY_LINES)?;
        editor.set_helper(Some(LineHelper(Completer::new(session))));
        let history = options.history.clone().filter(|path| make_folder(path));
        if let Some(path) = &history {
            // The first run has none to load.
            let _ = editor.load_history(path);
        }
        Ok(Self { editor, history })
    }

    /// The next line; `None` when the user leaves. A line that is no text is reported and dropped.
    fn next(&mut self, sink: &mut dyn Sink) -> Result<Option<String>, ReplError> {
        for _ in 0..BAD_READS {
            match self.editor.readline(PROMPT) {
                Ok(line) => {
                    self.remember(&line);
                    return Ok(Some(line));
                }
                // An abandoned line is an empty one.
                Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => {
                    return Ok(Some(String::new()));
                }
                Err(ReadlineError::Eof) => return Ok(None),
                Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                    let error = DcmdError::failed("the line is not valid UTF-8 and was dropped");
                    let _ = sink.error("", &error);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// History that cannot be kept is no reason to bother the user.
    fn remember(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let _ = self.editor.add_history_entry(line);
        if let Some(path) = &self.history {
            let _ = self.editor.append_history(path);
        }
    }
}

/// Makes the folder of `path`, for its owner alone.
fn make_folder(path: &Path) -> bool {
    path.parent().is_some_and(|folder| {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).is_ok()
    })
}

/// What rustyline asks while a line is typed.
struct LineHelper(Completer);

impl CompletesLine for LineHelper {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.0.complete(line.get(..position).unwrap_or(line)))
    }
}

impl Hinter for LineHelper {
    type Hint = String;
}

impl Highlighter for LineHelper {}
impl Validator for LineHelper {}
impl Helper for LineHelper {}
