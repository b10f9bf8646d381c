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
    /// Whether it depends on the moment at which the core was made.
    varies: bool,
}

impl Explained {
    /// What is wrong if no case of `cases` has the difference any more.
    pub fn stale(&self, cases: &[&Case]) -> Option<String> {
        let why = format!("{:?} against {:?}: {}", self.right, self.peer, self.why);
        (!self.varies).then(|| self.cases.stale(cases.iter().copied(), &why))?
    }
}

const fn known(
    peer: Peer,
    scenario: &'static str,
    words: &'static [&'static str],
    what: &'static [What],
    right: Right,
    why: &'static str,
) -> Explained {
    Explained { peer, cases: Pattern::new(scenario, words), what, right, why, varies: false }
}

const fn varying(known: Explained) -> Explained {
    Explained { varies: true, ..known }
}

use {
    Peer::{EuStack, Framehop, Gdb},
    Right::{Both, Kcore},
    What::{Longer, Name, NoThread, Pc, Shorter},
};

const NO_CFI: &str = "musl's libc has no unwind information: the peer guesses or gives up, kcore \
                      follows the code, to the stack that the program knows";
const SMASHED: &str = "the peer shows what overwrote the return address as frames";
const WILD: &str = "the caller of a call to where there is no code: the peer skips it or stops";
const GONE: &str =
    "the library's file is gone or another build: the peer stops at it or loses its way";
const STARTING: &str = "a thread that begins or ends stands in code of clone3 that has no unwind \
                        information: kcore follows the code or says that it cannot, the peer \
                        stops or goes on with words of the stack";
const SPELLING: &str =
    "the peer spells Rust's names by the debug information or leaves them mangled";
const LAMBDA: &str =
    "the peer names the operator of a lambda without the function that the lambda stands in";
const IN_RBX: &str = "_dl_runtime_resolve has its CFA in rbx, which framehop does not keep";
const EXPRESSION: &str = "a realigned frame's CFA is an expression that reads memory, which \
                          framehop does not do: it takes the frame pointer and loses a frame";
const DEBUG_FRAME: &str = "the program's functions are in .debug_frame alone, at which framehop \
                           does not look where there is an .eh_frame";
const DUMPED: &str = "framehop is given files; kcore reads what gdb dumped of the mapped library";
const OTHER_THREADS: &str = "gdb asks libthread_db, which invents a thread or leaves out one";

const ASSEMBLY: &str = "libcrypto's assembly, chosen by the processor's features, has its CFA in \
                        expressions or in registers that framehop does not keep";

const NO_HEADERS: &str = "the core holds no headers of the static program: eu-stack stops at the first \
                          caller, kcore takes its unwind information from the file";

const FINISH: &str = "the stack of a coroutine begins with a return address that nobody called from: the peer takes it \
                      for a frame";

const GO: &str = "Go's signal frame is no frame to the peers, and its stacks that begin in no function end in \
                  a return address of 0, which gdb shows";

const NO_TABLES: &str = "code without unwind information that uses rbp for something else: kcore reads it to the \
                         return, the peer follows rbp, or words of the stack, or stops";

const REGISTERED: &str = "the unwind information of code that was made at run time: kcore asks libgcc for it, the peer \
                          follows words of the stack, or stops";

const MADE: &str = "code that a library made has no unwind information: the peer stops, or follows words of the stack";

const GO_SWITCHES: &str = "Go goes from one stack to another: the peer takes the new one for the end or goes on with words of the \
                           stack; of threads that Go began it goes on behind runtime.mstart, where Go says that stacks end";

pub static EXPLAINED: [Explained; 66] = [
    varying(known(Gdb, "go-library", &[], &[Pc, Shorter, Longer], Both, GO_SWITCHES)),
    varying(known(EuStack, "go-library", &[], &[Pc, Shorter, Longer], Both, GO_SWITCHES)),
    varying(known(Gdb, "go-library-20", &[], &[Pc, Shorter, Longer], Both, GO_SWITCHES)),
    varying(known(EuStack, "go-library-20", &[], &[Pc, Shorter, Longer], Both, GO_SWITCHES)),
    varying(known(Gdb, "perf-map", &[], &[Pc, Shorter, Longer], Kcore, REGISTERED)),
    varying(known(EuStack, "perf-map", &[], &[Pc, Shorter, Longer], Kcore, REGISTERED)),
    varying(known(Framehop, "perf-map", &[], &[Pc, Shorter, Longer], Kcore, REGISTERED)),
    varying(known(Gdb, "registered-frames", &[], &[Pc, Shorter, Longer], Kcore, REGISTERED)),
    varying(known(EuStack, "registered-frames", &[], &[Pc, Shorter, Longer], Kcore, REGISTERED)),
    varying(known(Framehop, "registered-frames", &[], &[Pc, Shorter, Longer], Kcore, REGISTERED)),
    varying(known(Gdb, "pcre-jit", &[], &[Pc, Shorter, Longer], Kcore, MADE)),
    varying(known(EuStack, "pcre-jit", &[], &[Pc, Shorter, Longer], Kcore, MADE)),
    varying(known(Gdb, "luajit", &[], &[Pc, Shorter, Longer], Kcore, MADE)),
    varying(known(EuStack, "luajit", &[], &[Pc, Shorter, Longer], Kcore, MADE)),
    known(Gdb, "general-rbp", &[], &[Pc, Shorter, Longer], Kcore, NO_TABLES),
    known(EuStack, "general-rbp", &[], &[Pc, Shorter, Longer], Kcore, NO_TABLES),
    known(Gdb, "code-rbp-zero", &[], &[Pc, Shorter, Longer], Kcore, NO_TABLES),
    known(EuStack, "code-rbp-zero", &[], &[Pc, Shorter, Longer], Kcore, NO_TABLES),
    known(Gdb, "bthreads*", &[], &[Longer], Kcore, FINISH),
    known(EuStack, "bthreads*", &[], &[Longer], Kcore, FINISH),
    known(Framehop, "realigned", &[], &[Pc, Shorter], Kcore, EXPRESSION),
    known(Framehop, "lazy-binding", &[], &[Pc, Shorter], Kcore, IN_RBX),
    known(Framehop, "lazy-binding-stack", &[], &[Pc, Shorter], Kcore, IN_RBX),
    varying(known(Framehop, "crypto-*", &[], &[Pc, Shorter], Kcore, ASSEMBLY)),
    known(Framehop, "debug-frame", &[], &[Pc, Shorter], Kcore, DEBUG_FRAME),
    known(Framehop, "dlopen-deleted", &["gcore"], &[Shorter], Kcore, DUMPED),
    known(Framehop, "dlopen-overwritten", &["gcore"], &[Shorter], Kcore, DUMPED),
    known(Gdb, "*", &["musl"], &[Pc, Longer, Shorter], Kcore, NO_CFI),
    known(Gdb, "smashed", &["!musl"], &[Longer], Kcore, SMASHED),
    known(Gdb, "smashed-below", &["!musl"], &[Longer], Kcore, SMASHED),
    known(Gdb, "smashed-wild", &["!musl"], &[Longer], Kcore, SMASHED),
    known(Gdb, "dlopen-deleted", &["!musl"], &[Pc], Kcore, GONE),
    known(Gdb, "dlopen-overwritten", &["!musl"], &[Pc], Kcore, GONE),
    varying(known(Gdb, "thread-edges", &[], &[Longer, NoThread, Pc], Both, STARTING)),
    known(Gdb, "main-exited", &[], &[NoThread], Kcore, OTHER_THREADS),
    known(Gdb, "vfork", &[], &[NoThread], Kcore, OTHER_THREADS),
    known(Gdb, "rust-generics", &[], &[Name], Both, SPELLING),
    known(Gdb, "rust-threads", &[], &[Name], Both, SPELLING),
    known(Gdb, "hang-rust", &[], &[Name], Both, SPELLING),
    known(Gdb, "tokio-tasks", &[], &[Name], Both, SPELLING),
    known(Gdb, "rust-panic-backtrace", &[], &[Name], Both, SPELLING),
    known(Gdb, "rust-panic-hook", &[], &[Name], Both, SPELLING),
    known(Gdb, "shared-mutex", &[], &[Name], Both, LAMBDA),
    known(EuStack, "*", &["musl"], &[Pc, Longer, Shorter], Kcore, NO_CFI),
    known(EuStack, "smashed", &["!musl"], &[Longer], Kcore, SMASHED),
    known(EuStack, "smashed-below", &["!musl"], &[Longer], Kcore, SMASHED),
    known(EuStack, "null-call", &["!musl"], &[Pc, Shorter], Kcore, WILD),
    known(EuStack, "null-call-signal", &["!musl"], &[Pc, Shorter], Kcore, WILD),
    known(EuStack, "wild-call", &["!musl"], &[Pc, Shorter], Kcore, WILD),
    known(EuStack, "data-jump", &["!musl"], &[Pc, Shorter], Kcore, WILD),
    known(EuStack, "stack-jump", &["!musl"], &[Pc, Shorter], Kcore, WILD),
    known(EuStack, "dlopen-deleted", &["!musl"], &[Shorter], Kcore, GONE),
    known(EuStack, "dlopen-overwritten", &["!musl"], &[Shorter], Kcore, GONE),
    varying(known(EuStack, "lazy-binding-stack", &[], &[Shorter, Longer], Kcore, STARTING)),
    varying(known(EuStack, "thread-edges", &[], &[Longer, Shorter, Pc], Both, STARTING)),
    known(EuStack, "filter-anonymous", &["static"], &[Shorter], Kcore, NO_HEADERS),
    known(EuStack, "rust-generics", &[], &[Name], Both, SPELLING),
    known(EuStack, "rust-threads", &[], &[Name], Both, SPELLING),
    known(EuStack, "hang-rust", &[], &[Name], Both, SPELLING),
    known(EuStack, "tokio-tasks", &[], &[Name], Both, SPELLING),
    known(EuStack, "rust-panic-backtrace", &[], &[Name], Both, SPELLING),
    known(EuStack, "rust-panic-hook", &[], &[Name], Both, SPELLING),
    varying(known(Gdb, "lazy-binding-stack", &[], &[Shorter, Longer], Kcore, STARTING)),
    varying(known(EuStack, "threads-1000", &[], &[Longer, Shorter], Kcore, STARTING)),
    varying(known(Gdb, "values-go", &[], &[Pc, Longer], Kcore, GO)),
    varying(known(EuStack, "values-go", &[], &[Shorter, Longer, Pc], Kcore, GO)),
];
