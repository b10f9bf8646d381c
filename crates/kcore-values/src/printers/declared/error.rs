//! Why a file of printers cannot be read.

/// Why a file of printers cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct PrinterFileError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub why: String,
}

impl PrinterFileError {
    /// What is wrong at a byte of a text.
    pub fn at(text: &str, byte: usize, why: impl Into<String>) -> Self {
        Self { line: line_of(text, byte), why: why.into() }
    }
}

/// The line, from 1, that has a byte of a text.
pub fn line_of(text: &str, byte: usize) -> usize {
    let before = text.as_bytes().get(..byte.min(text.len())).unwrap_or_default();
    memchr::memchr_iter(b'\n', before).count().saturating_add(1)
}
