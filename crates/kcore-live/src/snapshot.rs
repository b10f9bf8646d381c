//! What is left of a process once it runs on.

use std::{io, time::Duration};

use kcore_mem::Addr;

use crate::{LiveError, Plan, arena::Arena, proc::TaskStat};

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
    /// What the system said of it right before it was stopped.
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
    /// Whether each thread was stopped by itself.
    pub rolling: bool,
    /// How long the process stood still; in a rolling snapshot the longest time of one thread.
    pub stopped: Duration,
    /// Whether the time was over before all was copied.
    pub late: bool,
    pub(crate) arenas: Vec<Arena>,
}

impl Snapshot {
    /// Threads of one instant, without any memory.
    pub(crate) fn of_threads(threads: Vec<SnapThread>) -> Self {
        Self { threads, rolling: false, stopped: Duration::ZERO, late: false, arenas: Vec::new() }
    }

    /// That there is anything in it.
    ///
    /// # Errors
    /// With the reason why no thread could be stopped.
    pub(crate) fn check(
        &self,
        plan: &Plan<'_>,
        refused: Option<io::Error>,
    ) -> Result<(), LiveError> {
        let pid = plan.process.pid();
        if self.threads.iter().any(|thread| thread.registers.is_some()) {
            return Ok(());
        }
        Err(match refused {
            Some(error) => plan.process.why("tracing its threads", error),
            None if self.threads.is_empty() => LiveError::Gone(pid),
            None => LiveError::NotStopped { pid, limit: plan.timeout },
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
