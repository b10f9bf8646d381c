//! Lines of other debuggers: they are tried where a statement means nothing in this language.
//!
//! A statement that can be read and whose first name is known is never taken for one of them.

use kcore_dcmd::{DcmdError, Meaning, Sink};

use crate::expr::Expr;
use crate::lexer;
use crate::parse::{self, Statement};
use crate::reading::Names;
use crate::session::{Session, Source};
use crate::status::Status;

impl Session {
    /// Runs text that is a syntax error as the line of another debugger; `None` if it is none.
    pub(crate) fn run_foreign(
        &mut self,
        text: &str,
        source: Source<'_>,
        sink: &mut dyn Sink,
    ) -> Option<Status> {
        let meaning = self.foreign_meaning(text)?;
        Some(match meaning {
            Meaning::Same { known, line } => {
                self.tell_once(known, &format!("kcore: {text} is {line} here"), sink);
                self.run_instead(&line, source, sink)
            }
            Meaning::Needless { known, why } => {
                self.tell_once(known, &format!("kcore: {text}: {why}"), sink);
                Status::DONE
            }
            Meaning::Instead(why) => {
                self.fail("", &DcmdError::failed(format!("{text}: {why}")), sink)
            }
        })
    }

    /// The same for a statement that can be read, but begins with a name that nothing has.
    pub(crate) fn run_unknown(
        &mut self,
        statement: &Statement,
        source: Source<'_>,
        sink: &mut dyn Sink,
    ) -> Option<Status> {
        let word = first_word(&statement.text);
        let is_known = || is_number(word) || self.is_symbol(word);
        let begins_so = statement.address.is_some() && self.is_foreign_word(word);
        if !begins_so || is_known() {
            return None;
        }
        self.run_foreign(parse::plain(&statement.text), source, sink)
    }

    /// Says what another debugger's word means here after it was taken as the name of a symbol, which is
    /// seldom what a user at a terminal meant.
    pub(crate) fn hint_at_foreign(&self, statement: &Statement, sink: &mut dyn Sink) {
        let is_name =
            matches!(&statement.address, Some(Expr::Name(name)) if *name == statement.text);
        if !is_name || !statement.pipeline.is_empty() {
            return;
        }
        let word = &statement.text;
        if let Some(Meaning::Same { line, .. }) = self.foreign_meaning(word) {
            // A hint that nobody reads is not an error.
            let _ = sink.hint(&format!(
                "kcore: {word} is a symbol, and dot is now its address; for the command {word} of other \
                 debuggers, type {line}"
            ));
        }
    }

    fn is_foreign_word(&self, word: &str) -> bool {
        self.depth == 0 && self.options.foreign.is_some_and(|foreign| foreign.begins(word))
    }

    /// What the line means. Text that runs within other text was written for this language.
    fn foreign_meaning(&self, text: &str) -> Option<Meaning> {
        let foreign = self.options.foreign.filter(|_| self.depth == 0)?;
        if !foreign.begins(first_word(text)) {
            return None;
        }
        foreign.meaning(text, &self.core, self)
    }

    fn tell_once(&mut self, known: &'static str, text: &str, sink: &mut dyn Sink) {
        if self.told.insert(known) {
            // A hint that nobody reads is not an error.
            let _ = sink.hint(text);
        }
    }

    /// Runs a line of this language in the place of the one that was typed.
    fn run_instead(&mut self, line: &str, source: Source<'_>, sink: &mut dyn Sink) -> Status {
        // A script has no such line to name.
        let source = if source == Source::Terminal { source } else { Source::Text };
        self.statement(sink, |session, sink| {
            session.depth += 1;
            let status = session.run_text(source, line, sink);
            session.depth -= 1;
            status
        })
    }
}

/// The letters with which a line begins, as far as they can be a name.
fn first_word(text: &str) -> &str {
    let end = text.find(|c| !lexer::is_name(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// Whether it may be a number, in whatever radix.
fn is_number(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_hexdigit())
}
