//! Opening a live process: it is stopped for a moment, copied, and looked at once it runs on.

mod files;
mod locks;
mod own;
mod parts;
mod profile;
mod rehearsal;
mod save;
mod take;
mod tasks;
mod threads;
mod wanted;

use std::{sync::Arc, time::Duration};

use kcore_live::{Deadline, Event, LivePages, Pid, Process};
use kcore_mem::Addr;

pub use own::{CountedStack, OwnProcess, OwnThread};
pub(crate) use profile::frame_of;
pub use profile::{
    HeldShare, Method, ProcessCost, ProcessesCost, ProfileChange, ProfileCost, ProfileOptions,
    ProfileProgress, ProfileWindow, ProfileWindows, RefusedProcess,
};
pub use save::{SaveError, SaveWhat, SavedCore};
pub use threads::ThreadChoice;

use crate::{
    Core, OpenError, OpenOptions,
    snapshot::{LaterMemory, LiveParts},
};

/// Times that is begun anew when the process starts another program meanwhile.
const MAX_PROGRAMS: usize = 3;

/// How a live process is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveOptions {
    /// Which threads.
    pub threads: ThreadChoice,
    /// Thread by thread, each at an instant of its own.
    pub rolling: bool,
    /// Bytes of each stack that are copied, at most; `None` is 8 MiB, and 64 MiB of all together.
    pub stack_size: Option<u64>,
    /// How long is waited for threads to stop, and then as long again for their memory.
    pub stop_timeout: Duration,
    /// How long the process stands still at most, each time that it is stopped; what could not be copied by
    /// then is missing, and said to be. `None` is [`LiveOptions::STOP_BUDGET`], and for all memory
    /// [`LiveOptions::SAVE_BUDGET`].
    pub stop_budget: Option<Duration>,
    /// Whether memory that was not copied is read from the live process later.
    pub live_memory: bool,
    /// Whether what lies at the path of a file that was deleted is taken for it, where nothing
    /// proves the contrary.
    pub ignore_deleted: bool,
    /// Whether the registers for floating-point numbers of all threads are copied, however many there
    /// are: each takes two more system calls.
    pub all_registers: bool,
    /// An event that is waited for before: the process is copied at that moment, with the thread first that the event
    /// happened to.
    pub when: Option<LiveMoment>,
}

/// The moment at which a live process is copied: see [`LiveOptions::when`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveMoment {
    /// Any of these events.
    pub events: Vec<Event>,
    /// How long is waited for it; `None` is until it comes, or the process ends.
    pub within: Option<Duration>,
}

impl LiveMoment {
    /// Until when it is waited for that begins now.
    pub(crate) fn until(&self) -> Deadline<'static> {
        Deadline::after(self.within.unwrap_or(Duration::MAX), None)
    }
}

impl Default for LiveOptions {
    fn default() -> Self {
        Self {
            threads: ThreadChoice::All,
            rolling: false,
            stack_size: None,
            stop_timeout: Duration::from_secs(1),
            stop_budget: None,
            live_memory: false,
            ignore_deleted: false,
            all_registers: false,
            when: None,
        }
    }
}

impl LiveOptions {
    /// How long a process stands still at most when nobody says otherwise.
    pub const STOP_BUDGET: Duration = Duration::from_secs(1);
    /// The same while all of its memory is saved.
    pub const SAVE_BUDGET: Duration = Duration::from_secs(10);

    /// How long the process stands still at most for its stacks.
    pub(crate) fn budget(&self) -> Duration {
        self.stop_budget.unwrap_or(Self::STOP_BUDGET)
    }
}

impl LiveParts {
    /// Those by which it is learned what is to be copied.
    fn asking(pages: Arc<LivePages>) -> Self {
        Self { pages: Some(pages), ..Self::default() }
    }
}

impl LaterMemory for LivePages {
    fn slice(&self, at: Addr) -> Option<&[u8]> {
        Self::slice(self, at)
    }

    fn take_use(&self) -> bool {
        Self::take_use(self)
    }
}

/// A process that runs: its snapshots, profiles and cores. It is not touched before one of them is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveProcess {
    pid: Pid,
}

impl LiveProcess {
    /// The process of this number, if there is one.
    pub const fn of(pid: Pid) -> Self {
        Self { pid }
    }

    /// Looks whether it can be looked at, without touching it.
    ///
    /// # Errors
    /// When there is no such process, it is traced already, or a right is missing as far as that is known beforehand.
    pub fn check(self) -> Result<(), OpenError> {
        Ok(Process::open(self.pid).map(drop)?)
    }

    /// Takes a snapshot of it and opens that; the process runs on. Of `options`, the
    /// core is of no meaning.
    ///
    /// What stacks need is found out beforehand, while the process runs, and copied together with
    /// the stacks. Where a walk then still misses something, all is copied once more, with what was
    /// missing: what a snapshot holds is of one instant, and never of two.
    ///
    /// # Errors
    /// When there is no such process, a right is missing, or it did not stop in time.
    pub fn snapshot(self, live: &LiveOptions, options: &OpenOptions) -> Result<Core, OpenError> {
        take::snapshot(self.pid, live, options)
    }
}
