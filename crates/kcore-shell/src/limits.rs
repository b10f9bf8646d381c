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
