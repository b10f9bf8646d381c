//! What a bthread does.

use kcore_unwind::Tid;

use super::{meta::Meta, running::Runner};

/// The state of a bthread that has not ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It runs on a thread.
    Running(Runner),
    /// It was made and has not run yet.
    Created,
    /// It waits on a butex.
    Waiting,
    /// It waits for a time.
    Sleeping,
    /// It waits for a thread to run it.
    Ready,
    /// It runs, or will, on the stack of a worker, where nothing tells it from others.
    OnWorker,
}

impl State {
    /// The state of a task, by who is on its stack and whether anybody ever was.
    pub const fn of(meta: &Meta, runs: Option<Runner>, is_new: bool) -> Self {
        match runs {
            Some(runner) => Self::Running(runner),
            None if meta.is_on_worker() => Self::OnWorker,
            None if meta.stack.get() == 0 || is_new => Self::Created,
            None if meta.waiter.get() != 0 => Self::Waiting,
            None if meta.sleep != 0 => Self::Sleeping,
            None => Self::Ready,
        }
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running(Runner { switches: true, .. }) => "switching",
            Self::Running(_) => "running",
            Self::Created => "created",
            Self::Waiting => "suspended",
            Self::Sleeping => "sleeping",
            Self::Ready => "ready",
            Self::OnWorker => "on worker",
        }
    }

    /// The thread that runs it.
    pub const fn thread(self) -> Option<Tid> {
        match self {
            Self::Running(runner) => Some(runner.thread),
            _ => None,
        }
    }
}
