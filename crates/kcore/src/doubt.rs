//! What a doubt about the answers of a core is.

use std::fmt;

/// Something that makes answers of a core doubtful.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Doubt {
    /// What it is about. A front end may add what its user can do about that.
    pub kind: DoubtKind,
    /// What it is, for people, in one line.
    pub text: String,
}

/// What a doubt is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DoubtKind {
    /// The core is cut off or damaged.
    Damage,
    /// The snapshot of a live process lacks something, or has something of another instant.
    Snapshot,
    /// Stacks were left out of the core.
    LeftOut,
    /// kcore does not know the machine.
    Machine,
    /// Files of modules were not found.
    MissingFiles,
    /// A file is that of another build, cannot be checked, or has changed since it was opened.
    WrongFiles,
    /// Debug information was not found, or not read to its end.
    DebugInfo,
    /// A runtime is there and cannot be decoded.
    Runtime,
}

impl DoubtKind {
    /// A doubt of this kind.
    pub(crate) const fn because(self, text: String) -> Doubt {
        Doubt { kind: self, text }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
