//! Where the fields of `boost::fibers::context` and of what keeps contexts lie.
//!
//! `include/boost/fiber/{context,scheduler}.hpp` of boostorg/fiber. All offsets are those of the compiler's
//! `offsetof` for the tags 1.66 to 1.88 on a machine of 64 bits, with the default spin lock and atomics.

/// Offsets of the fields of a context that are read.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// Of which releases, and for which standard library.
    pub releases: &'static str,
    /// `scheduler_`.
    pub scheduler: u64,
    /// `sleep_hook_`: the parent comes first.
    pub sleep_hook: u64,
    /// `ready_hook_`.
    pub ready_hook: u64,
    /// `worker_hook_`.
    pub worker_hook: u64,
    /// `c_`: the stack pointer with which it was left; null while it runs.
    pub saved: u64,
    /// `tp_`: until when it sleeps, in nanoseconds of the monotonic clock.
    pub deadline: u64,
    /// `type_`, four bytes.
    pub kind: u64,
    /// Bytes of one. What it is to run comes behind it.
    pub size: u64,
    /// How it waits.
    pub waits: Waits,
}

/// How a context waits in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// By its own `wait_hook_`; queues are rings of both directions.
    ByHook,
    /// By a `waker_with_hook` on its stack; queues are rings of one direction.
    ByWaker,
}

/// Bytes by which a `std::map` of libc++ is smaller than that of libstdc++: a context has one, `fss_data_`.
const SMALLER_MAP: u64 = 24;

impl Layout {
    /// Since 1.75. The fields behind the map begin `less` bytes earlier.
    const fn new(releases: &'static str, less: u64) -> Self {
        Self::of(releases, 56, 112_u64.saturating_sub(less), Waits::ByWaker, less)
    }

    /// Until 1.74.
    const fn old(releases: &'static str, less: u64) -> Self {
        Self::of(releases, 72, 128_u64.saturating_sub(less), Waits::ByHook, less)
    }

    const fn of(
        releases: &'static str,
        scheduler: u64,
        sleep_hook: u64,
        waits: Waits,
        less: u64,
    ) -> Self {
        Self {
            releases,
            scheduler,
            sleep_hook,
            ready_hook: 160_u64.saturating_sub(less),
            worker_hook: 184_u64.saturating_sub(less),
            saved: 208_u64.saturating_sub(less),
            deadline: 216_u64.saturating_sub(less),
            kind: 224_u64.saturating_sub(less),
            size: 232_u64.saturating_sub(less),
            waits,
        }
    }
}

/// All that are known.
pub const LAYOUTS: &[Layout] = &[
    Layout::new("1.75 to 1.88", 0),
    Layout::old("1.66 to 1.74", 0),
    Layout::new("1.75 to 1.88 with libc++", SMALLER_MAP),
    Layout::old("1.66 to 1.74 with libc++", SMALLER_MAP),
];

/// Fields of a context that are where they were in all of them.
pub mod context {
    /// `remote_ready_hook_`.
    pub const REMOTE_HOOK: u64 = 16;
    /// `terminated_`, a byte.
    pub const TERMINATED: u64 = 28;
    /// `wait_queue_`: those that wait for its end.
    pub const WAIT_QUEUE: u64 = 32;
    /// `wait_hook_` until 1.74, `waker_epoch_` since.
    pub const WAIT_HOOK: u64 = 48;
    pub const WAKER_EPOCH: u64 = 48;
}

/// Fields of a `boost::fibers::scheduler`.
pub mod scheduler {
    /// `remote_ready_queue_`, three words: how many, the first, the last.
    pub const REMOTE_QUEUE: u64 = 16;
    /// `algo_`.
    pub const ALGORITHM: u64 = 40;
    /// `worker_queue_`.
    pub const WORKERS: u64 = 80;
    /// `dispatcher_ctx_`.
    pub const DISPATCHER: u64 = 120;
    /// `main_ctx_`.
    pub const MAIN: u64 = 128;
}

/// Fields of a `waker_with_hook`, which begins with the context.
pub mod waker {
    /// `epoch_`.
    pub const EPOCH: u64 = 8;
    /// `waker_queue_hook_`.
    pub const HOOK: u64 = 16;
}
