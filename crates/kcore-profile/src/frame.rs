//! A frame of a profile: its names.

use std::sync::Arc;

/// What runs in a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProfileFrame {
    /// The function, demangled; a name in brackets where it is not known.
    pub function: Arc<str>,
    /// The module whose code it is.
    pub module: Option<Arc<str>>,
    /// Source file.
    pub file: Option<Arc<str>>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    pub column: Option<u32>,
    /// Whether it was inlined into its caller.
    pub inline: bool,
    /// The language whose runtime runs it (`js`, `python`); `None` is machine code of a compiler.
    pub script: Option<&'static str>,
}
