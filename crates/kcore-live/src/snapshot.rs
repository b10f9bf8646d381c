//! What is left of a process once it runs on.

use std::time::Duration;

use kcore_mem::{Addr, AddrRange};

use kcore_elf::core_file::Instants;

use crate::{LiveError, PerfSample, Plan, Standing, TaskStat, arena::Arena, freeze::Refused};

/// Registers of a thread as the kernel gives them: bytes of a register set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// General registers (`NT_PRSTATUS`).
    pub general: Vec<u8>,
    /// Floating-point registers (`NT_PRFPREG`), where they were asked for.
    pub floating: Vec<u8>,
    /// Extended registers (`NT_X86_XSTATE`), where they were asked for.
    pub extended: Vec<u8>,
    /// The thread pointer, where it is no general register (`NT_ARM_TLS`).
    pub thread_pointer: Vec<u8>,
    /// The signal that the thread was about to take (`siginfo_t`), if there was one.
    pub signal: Vec<u8>,
}

/// A thread of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapThread {
    /// Its id, as kcore sees it.
    pub tid: i32,
    /// Its id in the pid namespace of the process.
    pub inner_tid: u32,
    /// What the system said of it before it was stopped: between the list of threads and their stop. Of
    /// one that was made meanwhile, once it ran again; `None` when it had ended by then.
    pub stat: Option<TaskStat>,
    /// Its registers; `None` when it did not stop in time.
    pub registers: Option<Registers>,
    /// How long it stood still.
    pub stopped: Duration,
}

/// Memory that was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The address of its first byte.
    pub start: Addr,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// A process as it was at one instant, or, thread by thread, at one instant each.
#[derive(Debug)]
pub struct Snapshot {
    /// Its threads, the first thread of the process first.
    pub threads: Vec<SnapThread>,
    /// Of what instants it is.
    pub instants: Instants,
    /// How long the process stood still; in a rolling snapshot the longest time of one thread.
    pub stopped: Duration,
    /// What the monotonic clock of the process stood at when it was stopped, or in a rolling snapshot at the end.
    pub clock: Option<Duration>,
    /// Whether the time was over before all was copied.
    pub late: bool,
    /// Threads that were there and could not be traced.
    pub refused: Vec<i32>,
    pub(crate) arenas: Vec<Arena>,
}

impl Snapshot {
    /// A sample that the kernel took: one thread with its registers, and so much of its stack.
    pub fn of_sample(sample: &PerfSample<'_>, inner_tid: u32, stat: Option<TaskStat>) -> Self {
        let general = sample.general.clone();
        let mut arena = Arena::default();
        if let Some(at) = Standing::of_registers(&general) {
            let range = AddrRange::with_len(at.sp, sample.stack.len() as u64);
            arena.add(range, sample.stack);
        }
        let registers = Some(Registers { general, ..Registers::default() });
        let stopped = Duration::ZERO;
        let thread = SnapThread { tid: sample.tid, inner_tid, stat, registers, stopped };
        let arenas = vec![arena];
        Self { threads: vec![thread], arenas, ..Self::empty(Instants::Each) }
    }

    /// Threads that told of themselves, each at an instant of its own. It holds no memory.
    pub fn of_threads(threads: Vec<SnapThread>) -> Self {
        Self { threads, ..Self::empty(Instants::Each) }
    }

    /// One with nothing in it yet.
    pub(crate) const fn empty(instants: Instants) -> Self {
        Self {
            threads: Vec::new(),
            instants,
            stopped: Duration::ZERO,
            clock: None,
            late: false,
            refused: Vec::new(),
            arenas: Vec::new(),
        }
    }

    /// The snapshot, with those of the refused threads that are still there.
    ///
    /// # Errors
    /// When there is nothing in it: with the reason why no thread could be stopped.
    pub(crate) fn checked(
        mut self,
        plan: &Plan<'_>,
        refused: Vec<Refused>,
    ) -> Result<Self, LiveError> {
        let pid = plan.process.pid();
        let is_there = |refused: &Refused| plan.process.has_thread(refused.tid);
        let mut refused: Vec<Refused> = refused.into_iter().filter(is_there).collect();
        if self.threads.iter().any(|thread| thread.registers.is_some()) {
            self.refused = refused.iter().map(|refused| refused.tid).collect();
            return Ok(self);
        }
        Err(match refused.pop() {
            Some(refused) => plan.process.why("tracing its threads", refused.error),
            None if self.threads.is_empty() => LiveError::Gone(pid),
            None => LiveError::NotStopped { pid, limit: plan.timeout.min(plan.budget) },
        })
    }

    /// The memory that was copied, in no order; pieces may overlap.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.arenas.iter().flat_map(Arena::pieces)
    }

    /// The ids of threads that did not stop in time.
    pub fn late_threads(&self) -> Vec<i32> {
        let late = self.threads.iter().filter(|thread| thread.registers.is_none());
        late.map(|thread| thread.tid).collect()
    }

    /// How long a thread stood still, in the median, of those that stopped.
    pub fn median_stop(&self) -> Duration {
        let stopped = self.threads.iter().filter(|thread| thread.registers.is_some());
        let mut times: Vec<Duration> = stopped.map(|thread| thread.stopped).collect();
        times.sort_unstable();
        let middle = times.len().checked_div(2).unwrap_or_default();
        times.get(middle).copied().unwrap_or_default()
    }
}
