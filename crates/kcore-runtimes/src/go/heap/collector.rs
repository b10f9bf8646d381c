//! What the collector was doing, and its pace (`runtime/mgc.go`, `runtime/mgcpacer.go`, `runtime/mstats.go`).
//!
//! Its variables have no names in stripped programs. Then only what the heap itself says is known.

use kcore_mem::{Addr, AddressSpace};

use super::{Heap, layout::HeapLayout};
use crate::{
    Host,
    go::{Go, roots},
};

const PHASE: &str = "runtime.gcphase";
const PACE: &str = "runtime.gcController";
const STATISTICS: &str = "runtime.memstats";

/// What the collector does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectorPhase {
    /// Nothing, but perhaps it sweeps.
    Off,
    /// It marks what is reached.
    Mark,
    /// It ends that: the world is stopped.
    MarkTermination,
}

impl CollectorPhase {
    /// A word for machines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Mark => "mark",
            Self::MarkTermination => "mark_termination",
        }
    }
}

/// The collector of a heap. What is not known is `None`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Collector {
    /// What it does.
    pub phase: Option<CollectorPhase>,
    /// How many collections began to sweep.
    pub cycles: u64,
    /// How many of those that ended a program asked for.
    pub forced: Option<u64>,
    /// When the last one ended, in nanoseconds since 1970.
    pub last_end: Option<u64>,
    /// Bytes that were in use when somebody last counted them: at least that many.
    pub live: Option<u64>,
    /// Bytes that the last collection reached.
    pub marked: Option<u64>,
    /// Bytes in use at which the next one ends.
    pub goal: Option<u64>,
    /// `GOGC`; `None` also where it is off.
    pub percent: Option<u64>,
    /// Whether `GOGC` is off.
    pub is_off: bool,
    /// `GOMEMLIMIT` in bytes, where there is one.
    pub limit: Option<u64>,
    /// Objects in use, and bytes of their slots.
    pub objects: u64,
    /// See `objects`.
    pub bytes: u64,
    /// Bytes of all spans that hold objects.
    pub span_bytes: u64,
    /// Spans that are still to be swept.
    pub unswept: u64,
    /// Bytes of spans with stacks and other things of the runtime.
    pub manual_bytes: u64,
    /// Spans that cannot be read.
    pub damaged: u64,
}

impl Go {
    /// The collector of its heap.
    ///
    /// # Errors
    /// In words, where the heap is not found or cannot be read.
    pub fn collector(&self, host: &dyn Host) -> Result<Collector, &str> {
        let heap = self.heap(host)?;
        let mut collector = of_heap(heap);
        let Some(module) = host.module_at(self.tables.text.start) else { return Ok(collector) };
        let space = host.space();
        let phase = roots::symbol(module, PHASE).and_then(|at| phase(space, at));
        collector.phase = phase;
        if let Some(at) = roots::symbol(module, PACE) {
            collector.read_pace(space, &heap.layout, at);
        }
        if let Some(at) = roots::symbol(module, STATISTICS) {
            collector.read_statistics(space, &heap.layout, at);
        }
        Ok(collector)
    }
}

fn of_heap(heap: &Heap) -> Collector {
    let mut collector = Collector {
        cycles: u64::from(heap.generation / 2),
        unswept: heap.spans.iter().filter(|span| span.is_unswept).count() as u64,
        manual_bytes: heap.manual.iter().map(|pages| pages.len()).fold(0, u64::saturating_add),
        damaged: heap.damaged,
        ..Collector::default()
    };
    for span in &heap.spans {
        let objects = heap.objects_of(span).count() as u64;
        collector.objects = collector.objects.saturating_add(objects);
        collector.bytes = collector.bytes.saturating_add(objects.saturating_mul(span.slot));
        collector.span_bytes = collector.span_bytes.saturating_add(span.pages.len());
    }
    collector
}

fn phase(space: &dyn AddressSpace, at: Addr) -> Option<CollectorPhase> {
    match space.read_uint(at, 4).ok()? {
        0 => Some(CollectorPhase::Off),
        1 => Some(CollectorPhase::Mark),
        2 => Some(CollectorPhase::MarkTermination),
        _ => None,
    }
}

impl Collector {
    fn read_pace(&mut self, space: &dyn AddressSpace, layout: &HeapLayout, at: Addr) {
        let word = |offset: u64| space.read_word(at.checked_add(offset)?).ok();
        let percent = space.read_uint(at, 4).ok().map(|percent| percent as u32);
        self.is_off = percent.is_some_and(|percent| percent.cast_signed() < 0);
        self.percent = percent.filter(|_| !self.is_off).map(u64::from);
        let limit = layout.pace.limit.and_then(word);
        self.limit = limit.filter(|limit| *limit < i64::MAX.cast_unsigned());
        self.live = word(layout.pace.live);
        // Before the first collection the runtime has a number there that nothing was counted for.
        self.marked = word(layout.pace.marked).filter(|_| self.cycles > 0);
        // That which never comes is written as the largest number.
        self.goal = word(layout.pace.goal).filter(|goal| !self.is_off && *goal < u64::MAX / 2);
    }

    fn read_statistics(&mut self, space: &dyn AddressSpace, layout: &HeapLayout, at: Addr) {
        let (last_end, count) = layout.statistics;
        let field = |offset: u64, size: usize| space.read_uint(at.checked_add(offset)?, size).ok();
        self.last_end = field(last_end, 8).filter(|end| *end != 0);
        self.forced = count.checked_add(4).and_then(|forced| field(forced, 4));
    }
}
