//! What keeps objects from outside of the heap.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Tid;

/// A kind of root, such as the stack or a module. Each runtime defines its kinds as constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootKind {
    /// A word for machines: `stack`, `module`.
    pub word: &'static str,
    /// The text for people, before the name, the thread and the address: `the stack`.
    pub text: &'static str,
    /// Whether it keeps its object for certain. Another one counts only if nothing certain keeps the object.
    pub is_certain: bool,
}

impl RootKind {
    /// One that keeps its object for certain.
    pub const fn certain(word: &'static str, text: &'static str) -> Self {
        Self { word, text, is_certain: true }
    }

    /// One that may be left over, or may be no reference at all.
    pub const fn guessed(word: &'static str, text: &'static str) -> Self {
        Self { word, text, is_certain: false }
    }
}

/// What keeps an object from outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    /// Its kind.
    pub kind: &'static RootKind,
    /// The name of the module or the variable.
    pub name: Option<Arc<str>>,
    /// The thread to which it belongs.
    pub thread: Option<Tid>,
    /// Where the word lies that refers to the object.
    pub at: Option<Addr>,
    /// Where the object begins.
    pub to: Addr,
}

impl Root {
    /// A root of which nothing else is known.
    pub const fn new(kind: &'static RootKind, to: Addr) -> Self {
        Self { kind, name: None, thread: None, at: None, to }
    }
}
