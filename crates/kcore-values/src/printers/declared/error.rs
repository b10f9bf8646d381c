//! Why a file of printers cannot be read.

/// Why a file of printers cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {why}")]
pub struct PrinterFileError {
    /// The line, from 1.
    pub line: usize,
    /// The character of the line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub why: String,
}

impl PrinterFileError {
    /// What is wrong at a byte of a text.
    pub fn at(text: &str, byte: usize, why: impl Into<String>) -> Self {
        let (line, column) = position_of(text, byte);
        Self { line, column, why: why.into() }
    }
}

/// The line that has a byte of a text, and the character of the line that begins there; both from 1.
pub fn position_of(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = memchr::memchr_iter(b'\n', before.as_bytes()).count().saturating_add(1);
    let start = before.rfind('\n').map_or(0, |newline| newline.saturating_add(1));
    let column = before.get(start..).unwrap_or_default().chars().count().saturating_add(1);
    (line, column)
}
