//! How a shell asks for the value of a typed expression, `{conn->len + 1}`, within one of its own language.

use crate::{NameScope, Result};

/// Evaluates expressions of C and C++ over the objects of a process.
pub trait TypedExpressions: Sync {
    /// What an expression gives as a word: a number, where a pointer points to, the address of anything larger.
    ///
    /// # Errors
    /// When it is no expression, or has no such value.
    fn word(&self, scope: NameScope<'_>, text: &str) -> Result<u64>;
}
