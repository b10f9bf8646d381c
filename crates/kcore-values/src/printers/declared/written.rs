//! What stands in a file, with where it stands.

use std::{cell::RefCell, ops::Range};

use toml::Spanned;

use super::{PrinterExpression, PrinterFileError, error::position_of};
use crate::expression;

/// A text with where it stands.
pub type Written = Spanned<String>;

/// Turns what is written in a file into expressions. The first that can be none is remembered.
pub struct WrittenFile<'t> {
    text: &'t str,
    fault: RefCell<Option<PrinterFileError>>,
}

impl<'t> WrittenFile<'t> {
    /// A file.
    pub const fn new(text: &'t str) -> Self {
        Self { text, fault: RefCell::new(None) }
    }

    /// What it is read to be, unless an expression in it can be none.
    pub fn without_fault<T>(self, read: T) -> Result<T, PrinterFileError> {
        self.fault.into_inner().map_or(Ok(read), Err)
    }

    /// What is wrong with something written.
    pub fn error(&self, at: &Range<usize>, why: impl Into<String>) -> PrinterFileError {
        PrinterFileError::at(self.text, at.start, why)
    }

    /// The line and the column at which a text begins, behind its quotes.
    pub fn position(&self, written: &Written) -> (usize, usize) {
        position_of(self.text, self.start_of(written))
    }

    fn start_of(&self, written: &Written) -> usize {
        let span = written.span();
        let raw = self.text.get(span.clone()).unwrap_or_default();
        // An escape in the text makes the two differ: then its quotes are the place.
        let into = raw.find(written.get_ref().trim()).unwrap_or(0);
        span.start.saturating_add(into)
    }

    /// A text that is no expression of C.
    pub fn plain(&self, written: &Written) -> PrinterExpression {
        let (line, column) = self.position(written);
        PrinterExpression { text: written.get_ref().trim().into(), line, column }
    }

    /// An expression.
    pub fn expression(&self, written: &Written) -> PrinterExpression {
        let read = self.plain(written);
        if let Err(error) = expression::check(&read.text) {
            let column = read.column.saturating_add(error.column.saturating_sub(1));
            let why = format!("{}: {}", read.text, error.fault);
            let fault = PrinterFileError { line: read.line, column, why };
            self.fault.borrow_mut().get_or_insert(fault);
        }
        read
    }

    /// An expression that may be left out.
    pub fn maybe(&self, written: Option<&Written>) -> Option<PrinterExpression> {
        written.map(|written| self.expression(written))
    }
}
