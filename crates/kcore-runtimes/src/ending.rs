//! What a runtime knows of the end of a process.

use std::sync::Arc;

use kcore_mem::Addr;

use crate::NativeStack;

/// The stack of the thread that died.
#[derive(Clone, Copy, Debug)]
pub struct DyingStack<'a> {
    /// Its innermost frames.
    pub stack: NativeStack<'a>,
    /// The function of each, demangled and without parameters; empty where it is not known.
    pub functions: &'a [Arc<str>],
}

impl DyingStack<'_> {
    /// The first frame whose function is one of `names`.
    pub fn frame_of(&self, names: &[&str]) -> Option<usize> {
        self.functions.iter().position(|function| names.contains(&&**function))
    }
}

/// What is known of an exception's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nobody caught it.
    Uncaught,
    /// It was raised, and nobody has caught it yet: whether there is a handler is not known.
    InFlight,
    /// What handles it was running, or what runs on its way: `finally`, the end of a `with`.
    Handled,
    /// Another exception carries it as what that came of.
    Nested,
}

/// What ended a process, as its runtime has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// An exception that nobody caught, that was on its way, or that was handled.
    Exception {
        /// Which of them.
        fate: Fate,
        /// Its class, or of a value that is no object what type it is of.
        type_name: Arc<str>,
        /// Its message, or the value.
        message: Option<Arc<str>>,
        /// The signal of which the runtime made it, as the runtime prints that.
        signal: Option<Arc<str>>,
        /// The value, as the runtime's dcmds take it.
        object: Option<Addr>,
        /// The stack that it carries, as the language prints it, innermost first: `f (/a.js:1:2)`.
        trace: Vec<Arc<str>>,
    },
    /// The runtime, or the program by a call for that, gave up.
    Fatal {
        /// Why.
        message: Arc<str>,
        /// The stack of the language then, as it prints it, innermost first.
        trace: Vec<Arc<str>>,
    },
}
