//! What a task waits for in the end.

use std::{fmt, sync::Arc, time::Duration};

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

impl Deadline {
    /// The one so many nanoseconds after the clock began.
    pub fn from_nanos(nanos: u64) -> Self {
        let time = Duration::from_nanos(nanos);
        // Nanoseconds of 64 bits are no more than 2^35 seconds.
        let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        Self { seconds, nanos: time.subsec_nanos() }
    }

    /// Nanoseconds since the clock began; `None` of a time before that, or centuries after.
    pub fn nanos(self) -> Option<u64> {
        let seconds = u64::try_from(self.seconds).ok()?;
        seconds.checked_mul(1_000_000_000)?.checked_add(u64::from(self.nanos))
    }
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
