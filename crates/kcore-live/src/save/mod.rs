//! Writing all of a process as a core while it stands still.
//!
//! What the system must be asked is asked before as far as it can be, files behind mappings are opened, and it is
//! found out where in memory anything is. Then the process is stopped, and all pages are looked at again, those first
//! that were there before. The pages that there are are copied, one part after another, to a writer that may be slower
//! than the copy: the process goes on once the last page is copied, and not when it is written. It also goes on when
//! its time is over, and what comes before all memory is written last: so a core says of each segment how much of it
//! there is.
//!
//! Nothing is read that nobody has touched: see [`crate::resident`].

mod areas;
mod contents;
mod copy;
mod filter;
mod layout;
mod look;
mod prepared;
mod queue;
mod sink;

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use kcore_mem::Target;

pub use filter::CoreFilter;
pub use sink::CoreSink;

use areas::Areas;
use contents::Contents;
use copy::{Copier, Missing};
use layout::Layout;
use look::SecondLook;
use prepared::Prepared;

use crate::{
    Caught, LiveError, Plan, StoppedProcess, hold,
    image::{Head, Segment, notes_of},
    proc::MapDetails,
    sys::signals::PutOff,
};

/// Program headers of a core lie in its file by pages, so that it can be mapped.
const ALIGN: u64 = 4096;

/// The part of the time for which pages are looked at is one of so many.
const LOOKS: u32 = 4;
/// The same for what the system knows of mappings that have changed.
const DETAILS: u32 = 8;

/// How far a core has come, for whoever watches.
#[derive(Debug, Default)]
pub struct SaveProgress {
    /// Bytes of memory that were copied.
    pub copied: AtomicU64,
    /// Bytes of memory that will be; 0 as long as nobody knows.
    pub total: AtomicU64,
    /// Set to end it early.
    pub stop: Arc<AtomicBool>,
}

/// What a saved core has, and what it cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Threads with registers.
    pub threads: usize,
    /// Whether the process was killed while it was copied: what was not copied by then is lost.
    pub ended: bool,
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
    /// Bytes that nobody has ever touched, too many to be in it as zeros.
    pub untouched: u64,
    /// Bytes that others may have touched and the process has not, where what is mapped may not be opened.
    pub unseen: u64,
    /// Bytes that were not copied before the time was over.
    pub late: u64,
    /// What was waited for before.
    pub caught: Option<Caught>,
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
    let filter = match filter {
        Some(filter) => filter,
        None => CoreFilter::parse(&plan.process.core_filter()?),
    };
    let plan = Plan { stop: Some(&progress.stop), ..*plan };
    let prepared = Prepared::of(plan.process)?;
    let contents = Contents::of(plan.process, plan.memory);
    let areas = areas_of(&plan, &prepared.details, filter, &contents)?;
    let look = Look { filter, contents: &contents, areas: &areas };
    let (copied, stopped) = copied(&plan, (prepared, look), progress, sink)?;
    let (head, saved) = copied.ended();
    sink.head(&head).map_err(LiveError::Write)?;
    Ok(Saved { stopped, ..saved })
}

/// Opens the files behind mappings, and finds out where something is of each, for as long as the process may stand
/// still later.
fn areas_of(
    plan: &Plan<'_>,
    maps: &[MapDetails],
    filter: CoreFilter,
    contents: &Contents<'_>,
) -> Result<Areas, LiveError> {
    let until = plan.deadline();
    for map in maps.iter().filter(|map| !filter.wanted(map).is_empty()) {
        contents.prepare(map);
        if until.is_stopped() {
            return Err(LiveError::Stopped);
        }
    }
    let areas = Areas::find(contents, maps, filter, until);
    if until.is_stopped() { Err(LiveError::Stopped) } else { Ok(areas) }
}

/// How pages are looked at.
#[derive(Clone, Copy)]
struct Look<'a> {
    filter: CoreFilter,
    contents: &'a Contents<'a>,
    areas: &'a Areas,
}

/// Stops the process, and copies and writes its memory. The answer is what was copied, and how long the
/// process stood still.
fn copied(
    plan: &Plan<'_>,
    (prepared, look): (Prepared, Look<'_>),
    progress: &SaveProgress,
    sink: &mut dyn CoreSink,
) -> Result<(Copied, Duration), LiveError> {
    // A key that stops kcore would stop the process as well, for as long. One that ends it lets it go.
    let _put_off = PutOff::stops();
    let (to_writer, from_copier) = queue::of_room(queue::room());
    let is_stopped = || progress.stop.load(Ordering::Relaxed);
    thread::scope(|scope| {
        let writing = thread::Builder::new()
            .spawn_scoped(scope, move || from_copier.write_to(sink, &is_stopped));
        let writing = writing.map_err(|error| {
            let pid = plan.process.pid();
            LiveError::System { pid, what: "a thread that writes its core", error }
        })?;
        let copied = hold(plan, move |held| {
            let prepared = prepared.refreshed(plan.process, part_of(plan, DETAILS))?;
            let layout = layout_of(plan, &prepared.details, look, held);
            let copier = Copier::new(plan.memory, to_writer, progress, held.until);
            copy_all(plan, held, (&prepared, layout), copier, progress)
        });
        let written = writing.join().unwrap_or(Ok(Vec::new()));
        if is_stopped() {
            return Err(LiveError::Stopped);
        }
        // Where writing failed, copying ended for that reason.
        let gone = written.map_err(LiveError::Write)?;
        let (copied, stopped) = copied?;
        let mut copied = copied?;
        copied.missing.lost.extend(gone.into_iter().map(|at| at..at.saturating_add(1)));
        Ok((copied, stopped))
    })
}

fn copy_all(
    plan: &Plan<'_>,
    held: &StoppedProcess<'_>,
    (prepared, layout): (&Prepared, Layout),
    copier: Copier<'_>,
    progress: &SaveProgress,
) -> Result<Copied, LiveError> {
    let lines: Vec<_> = prepared.details.iter().map(|map| map.line.clone()).collect();
    let notes = notes_of(&prepared.facts, (&prepared.text, &lines), &held.threads, None);
    let segments: Vec<Segment> = layout.segments.iter().map(|planned| planned.segment).collect();
    let order = layout.order();
    let head = Head::in_order(plan.process.target(), &notes, &segments, (&order, ALIGN));
    progress.total.store(layout.memory(), Ordering::Relaxed);
    let planned = order.iter().filter_map(|index| layout.segments.get(*index));
    let missing = copier.copy(head.bytes.len() as u64, planned)?;
    let is_there = || segments.first().is_none_or(|first| plan.memory.is_there(first.range.start));
    let ended = !missing.lost.is_empty() && !is_there();
    Ok(Copied {
        saved: Saved {
            threads: held.threads.iter().filter(|thread| thread.registers.is_some()).count(),
            ended,
            late_threads: held.late_threads(),
            caught: held.caught.clone(),
            size: layout.memory().saturating_add(head.bytes.len() as u64),
            refused: layout.refused,
            left_out: layout.left_out,
            untouched: layout.untouched,
            unseen: layout.unseen,
            late: layout.late,
            ..Saved::default()
        },
        target: plan.process.target(),
        notes,
        segments,
        head,
        missing,
    })
}

/// What there is of each mapping. It is looked at for a part of the time: what was not looked at then is not copied,
/// so that there is time to copy the others.
fn layout_of(
    plan: &Plan<'_>,
    maps: &[MapDetails],
    Look { filter, contents, areas }: Look<'_>,
    held: &StoppedProcess<'_>,
) -> Layout {
    let until = held.until.within(part_of(plan, LOOKS));
    let mut layout = Layout::of(&held.threads, maps);
    let runs = SecondLook { maps, filter, areas }.look(contents, &layout, &|| until.is_over());
    for (map, runs) in maps.iter().zip(runs) {
        layout.add(map, filter.wanted(map), runs);
    }
    layout
}

/// So many parts the time is divided into, of which one is for a kind of work.
fn part_of(plan: &Plan<'_>, parts: u32) -> Duration {
    plan.budget.checked_div(parts).unwrap_or_default()
}

/// A process that was copied, as far as that went.
struct Copied {
    saved: Saved,
    target: Target,
    notes: Vec<u8>,
    /// The segments as they were planned.
    segments: Vec<Segment>,
    /// What was planned to come before them.
    head: Head,
    missing: Missing,
}

impl Copied {
    /// What comes before all memory, by what there is of it now.
    fn ended(mut self) -> (Vec<u8>, Saved) {
        let first = self.head.bytes.len() as u64;
        let places = self.segments.iter_mut().zip(&self.head.offsets);
        for (segment, offset) in places.filter(|(segment, _)| segment.file_size > 0) {
            let at = offset.saturating_sub(first);
            let planned = segment.file_size;
            let lost = held_of(at, planned, &self.missing.lost);
            segment.file_size = held_of(at, planned, &self.missing.late).min(lost);
            let gone = planned.saturating_sub(segment.file_size);
            let count = if lost < planned { &mut self.saved.refused } else { &mut self.saved.late };
            *count = count.saturating_add(gone);
            self.saved.memory = self.saved.memory.saturating_add(segment.file_size);
        }
        let head = self.head.with_less(self.target, &self.notes, &self.segments, ALIGN);
        (head.bytes, self.saved)
    }
}

/// How much there is of a segment that begins at a place and is so long, up to what is missing first.
fn held_of(at: u64, len: u64, missing: &[Range<u64>]) -> u64 {
    let end = at.saturating_add(len);
    let within = missing.iter().filter(|gap| gap.start < end && gap.end > at);
    within.map(|gap| gap.start.saturating_sub(at)).min().unwrap_or(len)
}
