//! What the line editor asks while a line is typed.

use std::borrow::Cow;
use std::sync::Arc;

use kcore_render::{Screen, Style};
use rustyline::completion::Candidate as Offered;
use rustyline::completion::Completer as Completes;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use super::highlight;
use super::hint::{self, LineHint};
use crate::complete::{Candidate, Completer};
use crate::session::Session;

/// Completes, colours, and hints at what may follow.
pub(super) struct LineHelper {
    completer: Completer,
    /// Whether the line is coloured: then what is faint can be told from what was typed.
    styled: bool,
}

impl LineHelper {
    pub(super) fn new(session: &Session, screen: Option<Arc<dyn Screen>>, styled: bool) -> Self {
        Self { completer: Completer::new(session, screen), styled }
    }

    /// Takes up what the last line may have changed.
    pub(super) fn learn(&mut self, session: &Session) {
        self.completer.learn(session);
    }
}

impl Completes for LineHelper {
    type Candidate = Candidate;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Candidate>)> {
        Ok(self.completer.complete(line.get(..position).unwrap_or(line)))
    }
}

impl Offered for Candidate {
    fn display(&self) -> &str {
        &self.shown
    }

    fn replacement(&self) -> &str {
        &self.text
    }
}

impl Hinter for LineHelper {
    type Hint = LineHint;

    fn hint(&self, line: &str, position: usize, context: &Context<'_>) -> Option<LineHint> {
        let at_end = position == line.len() && !line.is_empty();
        if !self.styled || !at_end {
            return None;
        }
        hint::usage(line, &self.completer).or_else(|| hint::from_history(line, context))
    }
}

impl Highlighter for LineHelper {
    fn highlight<'l>(&self, line: &'l str, _position: usize) -> Cow<'l, str> {
        highlight::line(line, &self.completer).into()
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Style::Faint.paint(hint).into()
    }

    fn highlight_char(&self, _line: &str, _position: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}

impl Validator for LineHelper {}
impl Helper for LineHelper {}
