//! What keeps objects from outside of the heap.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Tid;

/// What a root is. A runtime has a constant for each kind of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootKind {
    /// A word for machines: `stack`, `module`.
    pub word: &'static str,
    /// What people read, to which a name, a thread and an address are added: `the stack`.
    pub text: &'static str,
    /// Whether it keeps its object for certain. One that does not counts where nothing certain does.
    pub is_certain: bool,
}

/// What keeps an object from outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    /// What it is.
    pub kind: &'static RootKind,
    /// What it is called: the module, the variable.
    pub name: Option<Arc<str>>,
    /// The thread whose it is.
    pub thread: Option<Tid>,
    /// Where the word lies that refers to the object.
    pub at: Option<Addr>,
    /// Where the object begins.
    pub to: Addr,
}

impl Root {
    /// One of which no more is known.
    pub const fn new(kind: &'static RootKind, to: Addr) -> Self {
        Self { kind, name: None, thread: None, at: None, to }
    }
}
