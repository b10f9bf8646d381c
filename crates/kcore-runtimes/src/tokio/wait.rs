//! What a task waits for in the end.

use std::{fmt, sync::Arc};

use kcore_mem::Addr;

/// What a future waits for that waits for no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What kind of thing it is.
    pub kind: WaitKind,
    /// Which one.
    pub which: Option<WaitedFor>,
    /// The type of the future.
    pub future: Arc<str>,
}

/// Kinds of things that futures wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// A time.
    Timer,
    /// A socket, a pipe, or what else has a file descriptor.
    Io,
    /// A `Mutex`.
    Mutex,
    /// A `RwLock`.
    RwLock,
    /// A `Semaphore`.
    Semaphore,
    /// A `Notify`.
    Notify,
    /// A channel.
    Channel,
    /// The end of another task.
    Task,
    /// The end of any task of a set.
    JoinSet,
    /// That the runtime lets other tasks run.
    Yield,
    /// A future that is not known here.
    Other,
}

/// Which thing a future waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitedFor {
    /// A file descriptor.
    Fd(i32),
    /// A time.
    Deadline(Deadline),
    /// What lies there.
    Object(Addr),
    /// The task with this number.
    Task(u64),
}

/// A time of the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    /// Seconds.
    pub seconds: i64,
    /// Nanoseconds of the second.
    pub nanos: u32,
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.seconds, self.nanos.checked_div(1_000_000).unwrap_or(0))
    }
}

impl WaitKind {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timer => "timer",
            Self::Io => "io",
            Self::Mutex => "mutex",
            Self::RwLock => "rwlock",
            Self::Semaphore => "semaphore",
            Self::Notify => "notify",
            Self::Channel => "channel",
            Self::Task => "task",
            Self::JoinSet => "join set",
            Self::Yield => "yield",
            Self::Other => "future",
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.which) {
            (WaitKind::Other, _) => f.write_str(&self.future),
            (kind, None) => f.write_str(kind.as_str()),
            (_, Some(WaitedFor::Fd(fd))) => write!(f, "fd {fd}"),
            (_, Some(WaitedFor::Deadline(deadline))) => write!(f, "timer {deadline}"),
            (kind, Some(WaitedFor::Object(at))) => write!(f, "{} {at:x}", kind.as_str()),
            (_, Some(WaitedFor::Task(id))) => write!(f, "task {id}"),
        }
    }
}
