//! Saving a live process as a core.

use std::io;

use kcore_files::{CoreTarget, NewCore};
use kcore_live::{
    CoreFilter, CoreSink, LiveError, LiveMemory, Moment, Pid, Plan, Process, SaveProgress, Saved,
    StackLimit,
};

use super::{LiveOptions, LiveProcess, MAX_PROGRAMS};
use crate::{LiveFacts, OpenError, OpenOptions, Probes};

/// What of a process is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveWhat {
    /// All memory that `/proc/PID/coredump_filter` wants, and that the process itself does not want left
    /// out.
    Filtered,
    /// All memory that can be read.
    Everything,
    /// Stacks, and what stacks of native code need.
    Stacks,
    /// Stacks, and what decoders of runtimes need for theirs.
    Decoders,
}

/// A core that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SavedCore {
    /// What it has, and what it cost the process.
    pub saved: Saved,
    /// Bytes that it takes on the disk, or took on the wire.
    pub taken: u64,
    /// Of a core that has stacks alone: how the snapshot was taken.
    pub snapshot: Option<LiveFacts>,
}

/// Why no core was saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The process cannot be looked at.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The core could not be written.
    #[error(transparent)]
    Write(io::Error),
    /// Somebody ended it.
    #[error("stopped before all was copied")]
    Stopped,
}

impl From<LiveError> for SaveError {
    fn from(error: LiveError) -> Self {
        match error {
            LiveError::Write(error) => Self::Write(error),
            LiveError::Stopped => Self::Stopped,
            other => Self::Open(other.into()),
        }
    }
}

struct Sink(NewCore);

impl CoreSink for Sink {
    fn begin(&mut self, head: u64) -> io::Result<()> {
        self.0.begin(head)
    }

    fn head(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.head(bytes)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.bytes(bytes)
    }

    fn zeros(&mut self, count: u64) -> io::Result<()> {
        self.0.zeros(count)
    }
}

impl LiveProcess {
    /// Saves it as a core, packed with zstd if `pack` is set; the process runs on. Of
    /// `live`, the size of stacks counts where nothing but stacks is saved.
    ///
    /// # Errors
    /// When there is no such process, a right is missing, or the core cannot be written; nothing is
    /// left of it then.
    pub fn save(
        self,
        what: SaveWhat,
        live: &LiveOptions,
        options: &OpenOptions,
        (to, pack): (&CoreTarget, bool),
        progress: &SaveProgress,
    ) -> Result<SavedCore, SaveError> {
        let new = || NewCore::create(to, pack).map_err(SaveError::Write);
        let none = Probes::NONE;
        match what {
            SaveWhat::Filtered => save_all(self.pid, None, live, new()?, progress),
            SaveWhat::Everything => {
                save_all(self.pid, Some(CoreFilter::Everything), live, new()?, progress)
            }
            SaveWhat::Decoders => save_stacks(self.pid, live, options, new()?),
            SaveWhat::Stacks => save_stacks(
                self.pid,
                live,
                &OpenOptions { probes: none, ..options.clone() },
                new()?,
            ),
        }
    }
}

/// Everything, or what a filter wants.
fn save_all(
    pid: Pid,
    filter: Option<CoreFilter>,
    live: &LiveOptions,
    new: NewCore,
    progress: &SaveProgress,
) -> Result<SavedCore, SaveError> {
    let mut sink = Sink(new);
    let mut tries: usize = 1;
    loop {
        let process = Process::open(pid)?;
        match save_once(&process, filter, live, &mut sink, progress) {
            // It has started another program, before anything was copied.
            Err(LiveError::Gone(_)) if tries < MAX_PROGRAMS => tries = tries.saturating_add(1),
            Err(error) => return Err(error.into()),
            Ok(saved) => {
                let taken = sink.0.finish().map_err(SaveError::Write)?;
                return Ok(SavedCore { saved, taken, snapshot: None });
            }
        }
    }
}

fn save_once(
    process: &Process,
    filter: Option<CoreFilter>,
    live: &LiveOptions,
    sink: &mut Sink,
    progress: &SaveProgress,
) -> Result<Saved, LiveError> {
    let memory = LiveMemory::open(process)?;
    let threads = live.threads.ids(process)?;
    let plan = Plan {
        process,
        memory: &memory,
        maps: &[],
        threads: threads.as_deref(),
        memory_too: &[],
        follow: false,
        stacks: StackLimit::default(),
        floating_up_to: usize::MAX,
        timeout: live.stop_timeout,
        copy_timeout: live.stop_timeout,
        budget: live.stop_budget.unwrap_or(LiveOptions::SAVE_BUDGET),
        stop: None,
        rolling: false,
        at: live.when.as_ref().map(|when| Moment { events: &when.events, until: when.until() }),
    };
    kcore_live::save(&plan, filter, progress, sink)
}

/// A snapshot is a core already.
fn save_stacks(
    pid: Pid,
    live: &LiveOptions,
    options: &OpenOptions,
    mut new: NewCore,
) -> Result<SavedCore, SaveError> {
    let live = LiveOptions { live_memory: false, all_registers: true, ..live.clone() };
    let core = LiveProcess::of(pid).snapshot(&live, options)?;
    let facts = core.snapshot().facts();
    let bytes: &[u8] = core.file().map(|file| &**file.bytes()).unwrap_or_default();
    new.bytes(bytes).map_err(SaveError::Write)?;
    let taken = new.finish().map_err(SaveError::Write)?;
    let held = core.file().map(|file| file.segments()).unwrap_or_default();
    let memory = held.iter().filter(|it| it.is_load()).map(|it| it.file_size);
    let late = facts.iter().flat_map(|facts| &facts.late_threads);
    let saved = Saved {
        threads: core.threads().len(),
        late_threads: late.filter_map(|tid| i32::try_from(tid.get()).ok()).collect(),
        stopped: facts.as_ref().map(|facts| facts.stopped).unwrap_or_default(),
        size: bytes.len() as u64,
        memory: memory.fold(0, u64::saturating_add),
        caught: facts.as_ref().and_then(|facts| facts.caught.clone()),
        ..Saved::default()
    };
    Ok(SavedCore { saved, taken, snapshot: facts })
}
