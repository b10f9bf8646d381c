//! The log of a session: what a user may ask of it.

use std::path::{Path, PathBuf};

/// What to do with the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogRequest<'a> {
    /// Nothing: say whether there is one.
    Show,
    /// Append to this file from the next command on.
    Append(&'a Path),
    /// Go on with the file that was selected last.
    Resume,
    /// Stop.
    Stop,
}

/// The log as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogState {
    /// The file that was selected last.
    pub path: Option<PathBuf>,
    /// Whether it is written to.
    pub enabled: bool,
}
