//! What a bthread does.

use kcore_unwind::Tid;

use super::{meta::Meta, running::Runner};

/// The state of a bthread that has not ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It runs on a thread.
    Running(Runner),
    /// A thread is about to switch to it, and is on another stack yet: the registers that were saved count.
    Entered(Tid),
    /// A thread has left it and has more to do for it yet: to queue it where it waits. The registers that were
    /// saved count.
    Left(Tid),
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
    /// It is what a worker does when it runs no bthread, and the worker runs one.
    Parked(Tid),
}

/// What the state of a bthread follows from beside its `bthread::TaskMeta`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signs {
    /// The thread that is on its stack.
    pub on_stack: Option<Runner>,
    /// The thread whose current one it is, and which is not on its stack.
    pub current: Option<Tid>,
    /// The thread that has left it and has not yet done all that comes with that.
    pub left: Option<Tid>,
    /// Whether its stack was never entered.
    pub is_new: bool,
    /// Whether it was woken, from a wait or from sleep, and has not run since.
    pub is_woken: bool,
}

impl State {
    /// The state of a task.
    pub const fn of(meta: &Meta, signs: Signs) -> Self {
        if let (None, None, Some(thread)) = (signs.on_stack, signs.current, signs.left) {
            return Self::Left(thread);
        }
        match (signs.on_stack, signs.current) {
            (Some(runner), _) => Self::Running(runner),
            (None, Some(thread)) if meta.is_on_worker() => {
                Self::Running(Runner { thread, switches: false })
            }
            _ if meta.is_on_worker() && meta.stack.get() != 0 => Self::OnWorker,
            (None, Some(thread)) if meta.stack.get() != 0 => Self::Entered(thread),
            _ if meta.stack.get() == 0 || signs.is_new => Self::Created,
            _ if meta.waiter.get() != 0 && !signs.is_woken => Self::Waiting,
            _ if meta.waiter.get() == 0 && meta.sleep != 0 && !signs.is_woken => Self::Sleeping,
            _ => Self::Ready,
        }
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running(Runner { switches: true, .. }) | Self::Entered(_) | Self::Left(_) => {
                "switching"
            }
            Self::Running(_) => "running",
            Self::Created => "created",
            Self::Waiting => "suspended",
            Self::Sleeping => "sleeping",
            Self::Ready => "ready",
            Self::OnWorker => "on worker",
            Self::Parked(_) => "parked",
        }
    }

    /// The thread that it has to do with.
    pub const fn thread(self) -> Option<Tid> {
        match self {
            Self::Running(Runner { thread, .. })
            | Self::Entered(thread)
            | Self::Left(thread)
            | Self::Parked(thread) => Some(thread),
            _ => None,
        }
    }
}
