//! Writing all of a process as a core while it stands still.
//!
//! What the system must be asked is asked before as far as it can be. Then the process is stopped,
//! it is found out which of its pages have what, and they are copied, one part after another, to a
//! writer that may be slower than the copy: the process goes on once the last page is copied, and not
//! when it is written.

mod contents;
mod copy;
mod filter;
mod layout;
mod probe;
mod queue;
mod sink;

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};

pub use filter::CoreFilter;
pub use sink::CoreSink;

use contents::Contents;
use copy::Copier;
use layout::Layout;

use crate::{
    Held, LiveError, LiveMemory, Plan, Process, hold,
    image::{Facts, Head, notes_of},
    proc::MapDetails,
    sys::signals::PutOff,
};

/// Program headers of a core lie in its file by pages, so that it can be mapped.
const ALIGN: u64 = 4096;

/// How far a core has come, for whoever watches.
#[derive(Debug, Default)]
pub struct SaveProgress {
    /// Bytes of memory that were copied.
    pub copied: AtomicU64,
    /// Bytes of memory that will be; 0 as long as nobody knows.
    pub total: AtomicU64,
    /// Set to end it early.
    pub stop: AtomicBool,
}

/// What a saved core has, and what it cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Threads with registers.
    pub threads: usize,
    /// Threads that did not stop in time.
    pub late_threads: Vec<i32>,
    /// How long the process stood still.
    pub stopped: Duration,
    /// Bytes of the core, holes included.
    pub size: u64,
    /// Bytes of memory in it.
    pub memory: u64,
    /// Bytes of memory that could not be read, and are not in it.
    pub refused: u64,
    /// Bytes of mappings that the filter, or the process itself, wants left out.
    pub left_out: u64,
}

/// Mappings as they were while the process ran.
struct Prepared {
    text: Vec<u8>,
    details: Vec<MapDetails>,
    facts: Facts,
}

impl Prepared {
    fn of(process: &Process) -> Result<Self, LiveError> {
        let (text, _) = process.maps()?;
        Ok(Self { text, details: details_of(process)?, facts: Facts::read(process)? })
    }

    /// The mappings as they are now. To list them with all that the system knows of them takes time,
    /// and most often nothing has changed.
    ///
    /// # Errors
    /// When the process runs another program by now.
    fn refreshed(mut self, process: &Process) -> Result<Self, LiveError> {
        if Facts::read(process)? != self.facts {
            return Err(LiveError::Gone(process.pid()));
        }
        let (text, _) = process.maps()?;
        if text != self.text {
            self.details = details_of(process)?;
            self.text = text;
        }
        Ok(self)
    }
}

fn details_of(process: &Process) -> Result<Vec<MapDetails>, LiveError> {
    Ok(MapDetails::parse(&process.read("smaps", "its mappings")?))
}

/// Stops the process, writes it as a core to `sink`, and lets it go. Without a filter the process' own
/// is taken.
///
/// # Errors
/// As [`hold`]; when the core cannot be written, or the writing was stopped.
pub fn save(
    plan: &Plan<'_>,
    filter: Option<CoreFilter>,
    progress: &SaveProgress,
    sink: &mut dyn CoreSink,
) -> Result<Saved, LiveError> {
    let prepared = Prepared::of(plan.process)?;
    let filter = match filter {
        Some(filter) => filter,
        None => CoreFilter::parse(&plan.process.read("coredump_filter", "its filter")?),
    };
    // A key that stops kcore would stop the process as well, for as long. One that ends it lets it go.
    let _put_off = PutOff::stops();
    let (to_writer, from_copier) = queue::of_room(queue::room());
    thread::scope(|scope| {
        let writing =
            thread::Builder::new().spawn_scoped(scope, move || from_copier.write_to(sink));
        let writing = writing.map_err(|error| {
            let pid = plan.process.pid();
            LiveError::System { pid, what: "a thread that writes its core", error }
        })?;
        let copied = hold(plan, move |held| {
            let prepared = prepared.refreshed(plan.process)?;
            let copier = Copier { memory: plan.memory, to: to_writer, progress };
            copy_all(plan, held, &prepared, filter, &copier)
        });
        let written = writing.join().unwrap_or(Ok(()));
        if progress.stop.load(Ordering::Relaxed) {
            return Err(LiveError::Stopped);
        }
        // Where writing failed, copying ended for that reason.
        written.map_err(LiveError::Write)?;
        let (saved, stopped) = copied?;
        Ok(Saved { stopped, ..saved? })
    })
}

fn copy_all(
    plan: &Plan<'_>,
    held: &Held,
    prepared: &Prepared,
    filter: CoreFilter,
    copier: &Copier<'_>,
) -> Result<Saved, LiveError> {
    let layout = layout_of(plan.process, plan.memory, &prepared.details, filter);
    let lines: Vec<_> = prepared.details.iter().map(|map| map.line.clone()).collect();
    let notes = notes_of(&prepared.facts, (&prepared.text, &lines), &held.threads, None);
    let head = Head::new(plan.process.target(), &notes, &layout.segments, ALIGN);
    copier.progress.total.store(layout.memory(), Ordering::Relaxed);
    copier.head(&head.bytes)?;
    copier.memory(plan.process, &layout.runs)?;
    Ok(Saved {
        threads: held.threads.iter().filter(|thread| thread.registers.is_some()).count(),
        late_threads: held.late_threads(),
        size: layout.memory().saturating_add(head.bytes.len() as u64),
        memory: layout.memory(),
        refused: layout.refused,
        left_out: layout.left_out,
        ..Saved::default()
    })
}

fn layout_of(
    process: &Process,
    memory: &LiveMemory,
    maps: &[MapDetails],
    filter: CoreFilter,
) -> Layout {
    let contents = Contents::of(process, memory);
    let mut layout = Layout::default();
    for map in maps {
        let wanted = filter.wanted(map);
        layout.add(map, &contents.runs(map, wanted));
    }
    layout
}
