//! How a shell asks what a line of another debugger means here, when the line is not valid in its own language.

use kcore::Core;

use crate::Shell;

/// Knows how other debuggers say things.
pub trait Foreign: Sync {
    /// What `line` means, if it is one of another debugger. It may depend on the threads of `core`, and on
    /// the current thread and frame of `shell`.
    fn meaning(&self, line: &str, core: &Core, shell: &dyn Shell) -> Option<Meaning>;

    /// Whether lines of other debuggers begin with `word`. It is asked before anything is looked up.
    fn begins(&self, word: &str) -> bool;
}

/// What a line of another debugger means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The same as a line of the language.
    Same {
        /// Which of the known lines it is: the user is told once of each.
        known: &'static str,
        /// That line.
        line: String,
    },
    /// Nothing has to be done for it.
    Needless {
        /// Which of the known lines it is.
        known: &'static str,
        /// Why.
        why: &'static str,
    },
    /// It cannot be done, or not as the line asks: what to do instead.
    Instead(String),
}
