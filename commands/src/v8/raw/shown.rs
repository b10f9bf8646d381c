//! How output shows a word of V8.

use kcore::Addr;
use kcore_dcmd::Cell;

use crate::v8::subject::Subject;
use crate::v8::type_line;

/// A tagged word and what it is.
pub struct Word {
    /// The word.
    pub word: u64,
    /// A short description.
    pub type_line: String,
}

impl Word {
    /// What a word is.
    pub fn new(subject: Subject<'_>, word: u64) -> Self {
        Self { word, type_line: type_line::of(subject.core, subject.v8, word) }
    }

    /// The cell of both.
    pub fn cell(&self) -> Cell<'_> {
        Cell::Object(vec![
            ("address", Cell::Addr(Addr::new(self.word))),
            ("js_type", Cell::text(self.type_line.as_str())),
        ])
    }

    /// Both as text.
    pub fn text(&self) -> Cell<'_> {
        Cell::text(format!("{:x} ({})", self.word, self.type_line))
    }
}
