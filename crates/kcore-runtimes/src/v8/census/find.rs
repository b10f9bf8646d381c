//! Finding the chunks of a process.

use kcore_mem::{Addr, AddrRange, Fault};
use kcore_parallel::prelude::*;

use super::{
    Stopped, Watch,
    chunk::{CHUNK, Chunk},
    evidence::Evidence,
    walk,
};
use crate::{
    Host,
    v8::{Heap, V8},
};

/// Chunks, and places that may be one, at most: a quarter of a terabyte of those of the usual size.
const MAX_CHUNKS: usize = 1 << 20;
/// Chunks whose beginning is damaged, at most.
const MAX_DAMAGED: usize = 1 << 12;
/// The beginning of a large chunk is searched so far back, in chunks: 16 GiB.
const MAX_BACK: usize = 1 << 16;
/// Places that nothing describes, of which one thread looks through so many at a time.
const JOB: usize = 64;
/// Jobs between two looks at the user.
const STEP: usize = 32;

/// Memory that bytes were dumped of, lowest first and none beside another: no more than the core is long.
pub fn held_memory(host: &dyn Host) -> Vec<AddrRange> {
    AddrRange::merged(host.regions().into_iter().map(|region| region.range))
}

/// The chunks of all heaps of a process, lowest first: they lie in memory that is no file's.
///
/// # Errors
/// When whoever watches stopped it.
pub fn chunks(
    v8: &V8,
    host: &dyn Host,
    heap: &Heap<'_>,
    held: &[AddrRange],
    watch: Watch<'_>,
) -> Result<Vec<Chunk>, Stopped> {
    let mut finder = Finder { heap: *heap, next: 0, found: Vec::new(), unknown: Vec::new() };
    for range in host.ranges().iter().filter(|range| !range.is_file) {
        for part in walk::held(range.range, held) {
            finder.search(range.range, part);
        }
    }
    let Finder { mut found, unknown, .. } = finder;
    v8.leave_own(host, &mut found);
    let damaged = damaged(heap, &unknown, held, watch)?.into_iter();
    let is_own = |map: Addr| v8.is_alone() || found.iter().any(|chunk| chunk.area.contains(map));
    let damaged: Vec<Chunk> =
        damaged.filter(|(_, map)| is_own(*map)).map(|(place, _)| Chunk::damaged(place)).collect();
    found.extend(damaged);
    found.sort_unstable_by_key(|chunk| chunk.base);
    Ok(found)
}

/// Memory that bytes were dumped of, that is no file's, and around chunks, which are in order.
pub fn native_memory(host: &dyn Host, held: &[AddrRange], chunks: &[Chunk]) -> Vec<AddrRange> {
    let mut native = Vec::new();
    for range in host.ranges().iter().filter(|range| !range.is_file) {
        for part in walk::held(range.range, held) {
            let mut start = part.start;
            let first = chunks.partition_point(|chunk| chunk.end() <= part.start);
            let within = chunks.get(first..).unwrap_or_default().iter();
            for chunk in within.take_while(|chunk| chunk.base < part.end) {
                native.push(AddrRange::new(start, chunk.base.max(start)));
                start = chunk.end().min(part.end).max(start);
            }
            native.push(AddrRange::new(start, part.end));
        }
    }
    native.retain(|range| range.start < range.end);
    native
}

/// The chunk whose objects lie around an address. A large one may begin far before.
pub fn chunk_at(heap: &Heap<'_>, at: Addr) -> Option<Chunk> {
    let base = at.get() & !CHUNK.wrapping_sub(1);
    let bases = std::iter::successors(Some(base), |base| base.checked_sub(CHUNK));
    // No chunk has a gap.
    let is_mapped = |at: &Addr| !matches!(heap.space.slice(*at), Err(Fault::Unmapped(_)));
    let bases = bases.take(MAX_BACK).map(Addr::new).take_while(is_mapped);
    let mut chunks = bases.filter_map(|base| Chunk::load(heap, base));
    chunks.next().filter(|chunk| chunk.area.contains(at))
}

struct Finder<'a> {
    heap: Heap<'a>,
    /// Where the next chunk may begin.
    next: u64,
    found: Vec<Chunk>,
    /// Where a chunk would lie whose beginning tells nothing.
    unknown: Vec<AddrRange>,
}

impl Finder<'_> {
    /// Looks where a chunk may begin, in a part of a mapping that is held. The first page of one may not be.
    fn search(&mut self, range: AddrRange, part: AddrRange) {
        let first = range.start.get().checked_next_multiple_of(CHUNK);
        let around = part.start.get() & !CHUNK.wrapping_sub(1);
        // A large chunk may go on in other mappings.
        let mut base = first.map(|first| first.max(around).max(self.next));
        while let Some(at) = base.filter(|at| *at < part.end.get()) {
            if self.found.len() >= MAX_CHUNKS {
                return;
            }
            let end = self.look_at(Addr::new(at), range.end);
            base = end.get().checked_next_multiple_of(CHUNK);
            self.next = base.unwrap_or(u64::MAX);
        }
    }

    /// Looks whether a chunk begins at `base`, and says where it ends.
    fn look_at(&mut self, base: Addr, end: Addr) -> Addr {
        let Some(chunk) = Chunk::load(&self.heap, base) else {
            let whole = AddrRange::new(base, end.min(base.saturating_add(CHUNK)));
            if self.unknown.len() < MAX_CHUNKS {
                self.unknown.push(whole);
            }
            return base.saturating_add(1);
        };
        self.found.push(chunk);
        chunk.end()
    }
}

/// Places among those that nothing describes in which objects lie, and the map of one of these.
fn damaged(
    heap: &Heap<'_>,
    unknown: &[AddrRange],
    held: &[AddrRange],
    watch: Watch<'_>,
) -> Result<Vec<(AddrRange, Addr)>, Stopped> {
    let mut damaged = Vec::new();
    let mut done = 0_usize;
    for step in unknown.chunks(JOB.saturating_mul(STEP)) {
        let found = step.par_chunks(JOB).flat_map_iter(|places| {
            let mut evidence = Evidence::new(*heap, held);
            places.iter().filter_map(move |place| Some((*place, evidence.objects_in(*place)?)))
        });
        damaged.extend(found.collect::<Vec<_>>());
        damaged.truncate(MAX_DAMAGED);
        done = done.saturating_add(step.len());
        if watch(done as u64, unknown.len() as u64).is_break() {
            return Err(Stopped);
        }
    }
    Ok(damaged)
}
