//! A row of the table of other debuggers' lines.

use super::place::GdbContext;
use super::shape::Bound;

/// Lines of gdb and lldb with one meaning.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The shapes of their lines, that of gdb first. What the user fills in is in capitals.
    pub theirs: &'static [&'static str],
    /// What it is in kcore.
    pub ours: Ours,
    /// One sentence about it; may be empty.
    pub says: &'static str,
}

/// What another debugger's line is in kcore.
#[derive(Clone, Copy, Debug)]
pub enum Ours {
    /// A line with the same meaning. Words in braces come from the other debugger's line.
    Same(&'static str),
    /// Such a line that a function makes: how the table shows it, and the function.
    Made(&'static str, fn(&Bound<'_>, &GdbContext<'_>) -> Option<String>),
    /// Nothing has to be done.
    Needless,
    /// What to type instead; empty if kcore has nothing similar.
    Instead(&'static str),
    /// An option of the command line that starts kcore.
    AtStart(&'static str),
}

impl Row {
    /// How the table shows the line of kcore.
    pub fn shown(&self) -> String {
        match self.ours {
            Ours::Same(line) => line.replace(['{', '}'], ""),
            Ours::Made(line, _) | Ours::Instead(line) | Ours::AtStart(line) => line.to_owned(),
            Ours::Needless => "nothing to do".to_owned(),
        }
    }

    /// Whether the line works as it is in a session.
    pub const fn is_alias(&self) -> bool {
        matches!(self.ours, Ours::Same(_) | Ours::Made(..) | Ours::Needless)
    }
}
