//! Bounds of what one line may ask for.

/// Bytes in a line.
pub(crate) const LINE: usize = 64 * 1024;

/// Nested parentheses and operators of an expression.
pub(crate) const DEPTH: usize = 256;

/// Operators in one expression, which is evaluated as deep as it is long.
pub(crate) const OPERATORS: usize = 2048;

/// Repetitions by a count before a dcmd.
pub(crate) const REPEAT: u64 = 1 << 24;

/// Alternatives that completion offers.
pub(crate) const COMPLETIONS: usize = 500;

/// Files of a folder that completion looks at.
pub(crate) const FOLDER: usize = 10_000;

/// Characters of a line in which the place of an error is shown.
pub(crate) const SHOWN_LINE: usize = 200;

/// Texts and macro files that run within each other.
pub(crate) const NESTED: usize = 32;

/// Missing files with debug information that are named at a time.
pub(crate) const MISSING_FILES: usize = 4;

/// Bytes of a macro file.
pub(crate) const MACRO: u64 = 1 << 20;

/// Bytes of a file of printers.
pub(crate) const PRINTERS: u64 = 1 << 22;

/// Bytes of what a shell command feeds into a pipe.
pub(crate) const SHELL_OUTPUT: u64 = 1 << 26;
