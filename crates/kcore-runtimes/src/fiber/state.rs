//! What a fiber does.

use kcore_unwind::Tid;

/// The state of a fiber that has not ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It runs on a thread.
    Running(Tid),
    /// A thread was about to leave it or to enter it. With the thread, if that is on its stack: its registers
    /// count.
    Switching(Option<Tid>),
    /// It was made and has not run yet.
    Created,
    /// It waits for its thread to run it.
    Ready,
    /// It waits for a time.
    Sleeping,
    /// It waits for something.
    Waiting,
    /// It does not run. Its thread has a scheduling algorithm of the program's own, and nothing tells whether it
    /// is ready there or waits.
    Suspended,
}

impl State {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running(_) => "running",
            Self::Switching(_) => "switching",
            Self::Created => "created",
            Self::Ready => "ready",
            Self::Sleeping => "sleeping",
            Self::Waiting => "waiting",
            Self::Suspended => "suspended",
        }
    }

    /// The thread that is on its stack.
    pub const fn thread(self) -> Option<Tid> {
        match self {
            Self::Running(thread) | Self::Switching(Some(thread)) => Some(thread),
            _ => None,
        }
    }
}
