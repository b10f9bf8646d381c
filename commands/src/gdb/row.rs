//! What a row of the table of other debuggers' lines says.

use super::place::GdbContext;
use super::shape::Bound;

/// Lines of gdb and lldb with one meaning.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Their shapes, that of gdb first: words, and in capitals what the user fills in.
    pub theirs: &'static [&'static str],
    /// What it is in kcore.
    pub ours: Ours,
    /// One sentence about it; may be empty.
    pub says: &'static str,
}

/// What another debugger's line is in kcore.
#[derive(Clone, Copy, Debug)]
pub enum Ours {
    /// A line that means the same; what stands in braces is taken from theirs.
    Same(&'static str),
    /// Such a line that has to be made: how the table shows it, and what makes it.
    Made(&'static str, fn(&Bound<'_>, &GdbContext<'_>) -> Option<String>),
    /// Nothing has to be done.
    Needless,
    /// What to type instead, or nothing where there is nothing like it.
    Instead(&'static str),
    /// It is said on the command line, where kcore starts.
    AtStart(&'static str),
}

impl Row {
    /// How the table shows what is ours.
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
