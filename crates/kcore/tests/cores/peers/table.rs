//! Every known difference between kcore and its peers.

use gen_cores::Case;

use super::{Peer, compare::What};
use crate::pattern::Pattern;

/// Who is right where two differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Right {
    /// kcore, as the truth shows.
    Kcore,
    /// Both: they show the same thing in two ways, or may end where they do.
    Both,
}

/// A known difference.
pub struct Explained {
    pub peer: Peer,
    pub cases: Pattern,
    pub what: &'static [What],
    right: Right,
    why: &'static str,
}

impl Explained {
    /// What is wrong if no case of `cases` has the difference any more.
    pub fn stale(&self, cases: &[&Case]) -> Option<String> {
        let why = format!("{:?} against {:?}: {}", self.right, self.peer, self.why);
        self.cases.stale(cases.iter().copied(), &why)
    }
}

/// A row in which kcore is right.
const fn kcore_is_right(
    peer: Peer,
    (scenario, words): (&'static str, &'static [&'static str]),
    what: &'static [What],
    why: &'static str,
) -> Explained {
    Explained { peer, cases: Pattern::new(scenario, words), what, right: Right::Kcore, why }
}

const NOT_MUSL: &[&str] = &["!musl"];
const SIGNAL_FRAME: &str = "the CFA of a signal frame is read from memory, which framehop does not: \
                            it stops at the restorer, or goes on by frame pointer and leaves out \
                            the interrupted function";
const WILD_CALL: &str = "no module has the pc: framehop goes on by frame pointer and leaves out the \
                         caller, or stops";
const LAZY_BINDING: &str = "the CFA of _dl_runtime_resolve is in rbx, which framehop does not keep";
const NO_FILE: &str = "the library's file is gone, and framehop has no other way";
const SMASHED: &str = "framehop shows the overwritten return address as a frame";

const fn explained(
    peer: Peer,
    cases: Pattern,
    what: &'static [What],
    right: Right,
    why: &'static str,
) -> Explained {
    Explained { peer, cases, what, right, why }
}

use {
    Peer::Framehop,
    Right::Kcore,
    What::{Pc, Shorter},
};

pub static EXPLAINED: [Explained; 6] = [
    explained(
        Framehop,
        Pattern::new("realigned", &[]),
        &[Pc, Shorter],
        Kcore,
        "a realigned frame's CFA is an expression that reads memory, which framehop does not do; it \
         takes the frame pointer instead and loses a frame",
    ),
    explained(
        Framehop,
        Pattern::new("lazy-binding", &[]),
        &[Pc, Shorter],
        Kcore,
        "_dl_runtime_resolve has its CFA in rbx, which framehop does not keep",
    ),
    explained(
        Framehop,
        Pattern::new("lazy-binding-stack", &[]),
        &[Pc, Shorter],
        Kcore,
        "_dl_runtime_resolve has its CFA in rbx, which framehop does not keep",
    ),
    explained(
        Framehop,
        Pattern::new("debug-frame", &[]),
        &[Pc, Shorter],
        Kcore,
        "the program's functions are in .debug_frame alone, at which framehop does not look where \
         there is an .eh_frame",
    ),
    explained(
        Framehop,
        Pattern::new("dlopen-deleted", &["gcore"]),
        &[Shorter],
        Kcore,
        "the library's file is gone, and framehop is given files; kcore reads what gdb dumped of it",
    ),
    explained(
        Framehop,
        Pattern::new("dlopen-overwritten", &["gcore"]),
        &[Shorter],
        Kcore,
        "the library's file is another build; kcore reads what gdb dumped of the mapped one",
    ),
];
