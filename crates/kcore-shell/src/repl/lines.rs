//! The lines that a user types: prompt, history, and what ctrl-C and ctrl-D mean.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use kcore_dcmd::{DcmdError, Sink};
use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Behavior, ColorMode, CompletionType, Config, Editor};

use super::helper::LineHelper;
use super::{ReplError, ReplOptions};
use crate::session::Session;

const HISTORY_LINES: usize = 1000;
/// Reads in a row that may fail before the terminal is given up.
const BAD_READS: usize = 16;

/// What a user typed.
pub(super) enum Typed {
    /// A line, or several that were pasted together.
    Text(String),
    /// A line that ctrl-C ended.
    Abandoned,
    /// ctrl-D on an empty line.
    End,
}

/// The lines that a user types.
pub(super) struct Lines {
    editor: Editor<LineHelper, DefaultHistory>,
    history: Option<PathBuf>,
}

impl Lines {
    pub(super) fn open(session: &mut Session, options: &ReplOptions) -> Result<Self, ReplError> {
        let mut editor = Editor::with_config(config(options)?)?;
        editor.set_max_history_size(HISTORY_LINES)?;
        editor.set_helper(Some(LineHelper::new(session, options.screen.clone(), options.styled)));
        let history = options.history.clone().filter(|path| make_folder(path) && is_plain(path));
        if let Some(path) = &history {
            // The first run has none to load.
            let _ = editor.load_history(path);
        }
        session.typed = editor.history().iter().cloned().collect();
        Ok(Self { editor, history })
    }

    /// What the user types next. A line that is no text is reported and dropped.
    pub(super) fn next(
        &mut self,
        session: &mut Session,
        sink: &mut dyn Sink,
    ) -> Result<Typed, ReplError> {
        if let Some(helper) = self.editor.helper_mut() {
            helper.learn(session);
        }
        for _ in 0..BAD_READS {
            match self.editor.readline(session.settings.prompt.as_str()) {
                Ok(text) => {
                    text.lines().for_each(|line| self.remember(session, line));
                    return Ok(Typed::Text(text));
                }
                Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => {
                    return Ok(Typed::Abandoned);
                }
                Err(ReadlineError::Eof) => return Ok(Typed::End),
                Err(ReadlineError::Io(error)) if error.kind() == ErrorKind::InvalidData => {
                    let error = DcmdError::failed("the line is not valid UTF-8 and was dropped");
                    let _ = sink.error("", &error);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Typed::End)
    }

    /// History that cannot be kept is no reason to bother the user.
    fn remember(&mut self, session: &mut Session, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        if session.typed.last().is_none_or(|last| last != line) {
            session.typed.push(line.to_owned());
        }
        if session.typed.len() > HISTORY_LINES {
            session.typed.remove(0);
        }
        let _ = self.editor.add_history_entry(line);
        if let Some(path) = &self.history {
            let _ = self.editor.append_history(path);
        }
    }
}

fn config(options: &ReplOptions) -> Result<Config, ReadlineError> {
    let terminal = options.prefer_terminal;
    Ok(Config::builder()
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        // No list is longer than a screen: rustyline asks questions that ctrl-C does not answer.
        .completion_prompt_limit(usize::MAX)
        .history_ignore_dups(true)?
        .bracketed_paste(true)
        .color_mode(if options.styled { ColorMode::Enabled } else { ColorMode::Disabled })
        .behavior(if terminal { Behavior::PreferTerm } else { Behavior::Stdio })
        .build())
}

/// Whether there is a plain file or none yet: whoever opens a pipe waits for another to open it too.
fn is_plain(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |file| file.is_file())
}

/// Makes the folder of `path`, for its owner alone.
fn make_folder(path: &Path) -> bool {
    path.parent().is_some_and(|folder| {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).is_ok()
    })
}
