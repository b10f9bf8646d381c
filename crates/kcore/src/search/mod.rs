//! Searching all memory for values: who points here.
//!
//! Memory is cut into chunks, which all processors scan at the same time without copying them. A
//! search is pulled batch by batch, in the order of addresses: the first matches are there long
//! before the last byte was read, what is kept is bounded, and whoever pulls may stop between two.

mod pattern;
mod scan;

use std::time::Instant;

use kcore_mem::{Addr, AddrRange, AddressSpace, Origin, Region};
use kcore_parallel::prelude::*;

pub use pattern::{UnitSize, ValuePattern};
use scan::{Scanned, Scanner};

use crate::{Core, MemoryView, pace::Pace, regions};

/// Bytes that one thread scans at a time.
const CHUNK: u64 = 1 << 20;
/// Chunks that are scanned between two batches, at most.
const MAX_CHUNKS: usize = 64;
/// Bytes of modules' files that are searched, at most.
const MAX_IN_FILES: u64 = 16 << 30;
/// Less than this is not missing of a mapping: files end within a page.
const PAGE: u64 = 4096;

/// A unit of memory that holds what was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Where it lies.
    pub addr: Addr,
    /// What it holds.
    pub value: u64,
}

/// What was found in a part of memory.
#[derive(Debug, Default)]
pub struct Batch {
    /// The matches, lowest address first.
    pub matches: Vec<Match>,
    /// Bytes that were searched so far.
    pub done: u64,
}

/// Memory that the process had and nothing holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How many ranges.
    pub ranges: usize,
    /// Bytes in all of them.
    pub bytes: u64,
}

/// A search that goes on as long as it is pulled.
pub struct Search<'c> {
    space: &'c dyn AddressSpace,
    scanner: Scanner,
    unit: UnitSize,
    /// What is left to be searched, the next last.
    left: Vec<AddrRange>,
    total: u64,
    skipped: Skipped,
    /// How many chunks come next.
    pace: Pace,
}

impl<'c> MemoryView<'c> {
    /// Searches the memory of the process for units that hold what is wanted and lie wholly within a
    /// range. Memory that was not dumped is taken from the files of modules, where their build-ids
    /// prove them to be those that were mapped; the rest is skipped and counted.
    pub fn search(self, wanted: ValuePattern, unit: UnitSize, within: AddrRange) -> Search<'c> {
        let unit_bytes = unit.bytes() as u64;
        let end = within.end.get().saturating_sub(within.end.get() % unit_bytes);
        let within = AddrRange::new(within.start, Addr::new(end));
        let proven = |origin| !matches!(origin, Origin::UnverifiedFile);
        let mut held = self.core.space().regions();
        held.retain(|region| proven(region.origin));
        self.core.cut_repetitions(&mut held);
        let ranges = held.iter().filter_map(|held| held.range.intersection(&within));
        let mut left: Vec<_> = ranges.collect();
        let total = total_len(&left);
        left.reverse();
        Search {
            space: self.core.space(),
            scanner: Scanner::new(wanted, unit, self.core.target()),
            unit,
            left,
            total,
            skipped: self.core.not_held(within, &held),
            pace: Pace::new(MAX_CHUNKS),
        }
    }
}

impl Core {
    /// Searches ranges of memory, in their order, for units that hold what is wanted. The caller bounds them.
    pub(crate) fn search_ranges(
        &self,
        wanted: ValuePattern,
        unit: UnitSize,
        mut left: Vec<AddrRange>,
    ) -> Search<'_> {
        let total = total_len(&left);
        left.reverse();
        let scanner = Scanner::new(wanted, unit, self.target());
        let skipped = Skipped::default();
        Search {
            space: self.space(),
            scanner,
            unit,
            left,
            total,
            skipped,
            pace: Pace::new(MAX_CHUNKS),
        }
    }

    /// No process has more memory than its core has bytes, and what files add is not endless: what a
    /// crafted core maps again and again is left out.
    pub(crate) fn cut_repetitions(&self, held: &mut Vec<Region>) {
        // What has no file was copied from a process, which claims nothing.
        let mut in_core = self.file().map_or(u64::MAX, |file| file.bytes().len() as u64);
        let mut in_files = MAX_IN_FILES;
        held.retain(|region| {
            let left = if matches!(region.origin, Origin::Core | Origin::Snapshot) {
                &mut in_core
            } else {
                &mut in_files
            };
            let rest = left.checked_sub(region.range.len());
            *left = rest.unwrap_or(*left);
            rest.is_some()
        });
    }

    /// What the process had mapped in a range beside what is held. Pages that nobody could read, such
    /// as those that guard stacks, hold nothing.
    fn not_held(&self, within: AddrRange, held: &[Region]) -> Skipped {
        let mapped = self.mappings().iter().filter(|it| it.may_be_read());
        let mapped = mapped.filter_map(|it| it.range.intersection(&within));
        let mut missing = regions::gaps(mapped.collect(), held);
        missing.retain(|gap| gap.len() >= PAGE);
        Skipped { ranges: missing.len(), bytes: total_len(&missing) }
    }
}

fn total_len(ranges: &[AddrRange]) -> u64 {
    ranges.iter().map(AddrRange::len).fold(0, u64::saturating_add)
}

impl Search<'_> {
    /// Bytes that are searched in all.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// What is not searched though the process had it.
    pub const fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// The next chunks: aligned, and in the order of addresses.
    fn next_chunks(&mut self) -> Vec<AddrRange> {
        let mut chunks = Vec::new();
        while chunks.len() < self.pace.items()
            && let Some(range) = self.left.pop()
        {
            let Some(start) = self.aligned(range.start).filter(|start| *start < range.end) else {
                continue;
            };
            let chunk = AddrRange::new(start, range.end.min(start.saturating_add(CHUNK)));
            self.left.push(AddrRange::new(chunk.end, range.end));
            chunks.push(chunk);
        }
        chunks
    }

    /// The first unit at or behind an address.
    fn aligned(&self, at: Addr) -> Option<Addr> {
        at.get().checked_next_multiple_of(self.unit.bytes() as u64).map(Addr::new)
    }

    /// Joins what was found up to the first chunk whose scan rests; what lies behind is searched
    /// again.
    fn join(&mut self, chunks: &[AddrRange], scanned: Vec<Scanned>) -> Vec<Match> {
        let mut matches = Vec::new();
        let mut unfinished = None;
        for (index, (chunk, scanned)) in chunks.iter().zip(scanned).enumerate() {
            matches.extend(scanned.matches);
            if let Some(rest) = scanned.rest {
                unfinished = Some((index, AddrRange::new(rest, chunk.end)));
                break;
            }
        }
        if let Some((index, rest)) = unfinished {
            let again = chunks.get(index.saturating_add(1)..).unwrap_or_default();
            self.left.extend(again.iter().rev().copied().chain([rest]));
        }
        matches
    }
}

impl Iterator for Search<'_> {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        let chunks = self.next_chunks();
        if chunks.is_empty() {
            return None;
        }
        let start = Instant::now();
        let (space, scanner) = (self.space, self.scanner);
        let scanned: Vec<_> = chunks.par_iter().map(|chunk| scanner.scan(space, *chunk)).collect();
        let rests = scanned.iter().any(|scanned| scanned.rest.is_some());
        let matches = self.join(&chunks, scanned);
        // Where memory is full of matches, they are what takes time.
        if rests {
            self.pace.restart();
        } else {
            self.pace.took(start.elapsed());
        }
        Some(Batch { matches, done: self.total.saturating_sub(total_len(&self.left)) })
    }
}
