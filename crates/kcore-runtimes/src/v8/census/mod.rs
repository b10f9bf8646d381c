//! The census of a heap: all objects, found by walking it from object to object.
//!
//! A heap consists of chunks, a chunk of objects without gaps: the map of each says how large it is, and
//! what is free is an object too. Where that chain breaks (in what a thread was about to allocate from, in
//! damaged memory) the next object is searched, and what was skipped is counted.
//!
//! What is kept is bounded by the heap: a bit for each of its words, and a count for each map.

mod chunk;
mod class;
mod edge;
mod evidence;
mod find;
mod functions;
pub mod graph;
mod group;
mod holder;
mod isolate;
mod lab;
mod listed;
mod maps;
mod marked;
mod referrers;
mod refs;
mod select;
mod shape;
mod starts;
mod walk;

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};
use kcore_parallel::prelude::*;
use rustc_hash::FxHashMap;

pub use chunk::{Chunk, Use};
pub(super) use find::chunk_at;
pub use functions::Definition;
pub use group::Group;
pub use holder::{HeapOccupant, Holder};
pub(super) use isolate::around_heap;
pub use maps::MapCount;
pub(super) use marked::Marked;
pub use refs::{Reference, References};
pub use shape::{Extent, Shape, Tagging};
pub use starts::Starts;
pub use walk::Rest;

use super::{Heap, V8, heap::Object};
use crate::{
    Host,
    objects::{Edge, Stopped, Watch},
};
use maps::Maps;
use walk::Walk;

/// Chunks that one thread walks at a time.
const JOB: usize = 8;
/// Jobs between two looks at the user.
const STEP: usize = 32;
const PAGE: u64 = 4096;

/// All objects of the heaps of a process.
#[derive(Debug)]
pub struct Census {
    areas: Vec<Area>,
    /// The index of the first object of each area.
    first: Vec<u64>,
    maps: Vec<MapCount>,
    by_map: FxHashMap<u64, u32>,
    rest: Rest,
    /// Memory that was looked at, lowest first.
    held: Vec<AddrRange>,
}

/// A chunk, and where objects begin in it.
#[derive(Debug)]
pub struct Area {
    /// The chunk.
    pub chunk: Chunk,
    /// Where objects begin.
    pub starts: Starts,
    /// What is no object.
    pub rest: Rest,
}

impl V8 {
    /// All objects of its heaps. They are searched once.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn census(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
    ) -> Result<Option<Arc<Census>>, Stopped> {
        let heap = self.decodable(host).filter(|heap| heap.layout.has_known_pages());
        let Some(heap) = heap else { return Ok(None) };
        if let Some(census) = self.census.get() {
            return Ok(Some(census.clone()));
        }
        let census = Arc::new(Census::take(self, host, &heap, watch)?);
        Ok(Some(self.census.get_or_init(|| census).clone()))
    }

    /// The census, if it was taken.
    pub fn known_census(&self) -> Option<&Arc<Census>> {
        self.census.get()
    }
}

/// What walking some chunks gave.
struct Part<'a> {
    areas: Vec<Area>,
    maps: Maps<'a>,
}

impl Census {
    fn take(v8: &V8, host: &dyn Host, heap: &Heap<'_>, watch: Watch<'_>) -> Result<Self, Stopped> {
        let held = find::held_memory(host);
        let readable = host.ranges().into_iter().filter(|range| range.readable);
        let mapped = AddrRange::merged(readable.map(|range| range.range));
        let chunks = find::chunks(v8, host, heap, &held, watch)?;
        let native = find::native_memory(host, &held, &chunks);
        let unused = lab::unused(heap, &chunks, &native);
        let memory = Memory { heap: *heap, held: &held, mapped: &mapped, unused: &unused };
        let total = chunks.iter().map(|chunk| chunk.area.len()).fold(0, u64::saturating_add);
        let mut census = Self {
            areas: Vec::new(),
            first: Vec::new(),
            maps: Vec::new(),
            by_map: FxHashMap::default(),
            rest: Rest::default(),
            held: Vec::new(),
        };
        let mut done = 0_u64;
        for step in chunks.chunks(JOB.saturating_mul(STEP)) {
            let parts: Vec<Part<'_>> =
                step.par_chunks(JOB).map(|chunks| memory.walk(chunks)).collect();
            parts.into_iter().for_each(|part| census.add(part));
            let bytes = step.iter().map(|chunk| chunk.area.len()).fold(0, u64::saturating_add);
            done = done.saturating_add(bytes);
            if watch(done, total).is_break() {
                return Err(Stopped);
            }
        }
        census.held = held;
        Ok(census)
    }

    fn add(&mut self, part: Part<'_>) {
        for area in part.areas {
            let first = self.object_count();
            self.rest = self.rest.plus(area.rest);
            self.first.push(first);
            self.areas.push(area);
        }
        for count in part.maps.into_counts().into_iter().filter(|count| count.count > 0) {
            self.add_map(count);
        }
    }

    fn add_map(&mut self, count: MapCount) {
        let known = self.by_map.get(&count.map.get()).copied();
        match known.and_then(|index| self.maps.get_mut(index as usize)) {
            Some(known) => {
                known.count = known.count.saturating_add(count.count);
                known.bytes = known.bytes.saturating_add(count.bytes);
            }
            None => {
                let index = u32::try_from(self.maps.len()).unwrap_or(u32::MAX);
                self.by_map.insert(count.map.get(), index);
                self.maps.push(count);
            }
        }
    }

    /// How many objects there are.
    pub fn object_count(&self) -> u64 {
        let before = self.first.last().copied().unwrap_or(0);
        before.saturating_add(self.areas.last().map_or(0, |area| area.starts.count()))
    }

    /// The size of all objects in bytes.
    pub fn bytes(&self) -> u64 {
        self.maps.iter().map(|map| map.bytes).fold(0, u64::saturating_add)
    }

    /// The maps of all objects, and how many each has.
    pub fn maps(&self) -> &[MapCount] {
        &self.maps
    }

    /// What was found beside objects.
    pub const fn rest(&self) -> Rest {
        self.rest
    }

    /// All chunks, lowest first.
    pub fn areas(&self) -> &[Area] {
        &self.areas
    }

    /// All objects, lowest first.
    pub fn objects(&self) -> impl Iterator<Item = Addr> + '_ {
        self.areas.iter().flat_map(|area| area.starts.iter())
    }

    /// The number of the object that begins at an address, counted from the lowest.
    pub fn index_of(&self, at: Addr) -> Option<u64> {
        let (area, first) = self.area_at(at)?;
        first.checked_add(area.starts.index_of(at)?)
    }

    /// The object of a number.
    pub fn nth(&self, index: u64) -> Option<Addr> {
        let after = self.first.partition_point(|first| *first <= index);
        let area = after.checked_sub(1)?;
        let within = index.checked_sub(*self.first.get(area)?)?;
        self.areas.get(area)?.starts.nth(within)
    }

    /// How much of `size` bytes from an address on was looked at.
    fn held_from(&self, at: Addr, size: u64) -> u64 {
        // What is small lies in what was looked at but for its end.
        if size <= PAGE {
            return size;
        }
        let after = self.held.partition_point(|range| range.start <= at);
        let range = after.checked_sub(1).and_then(|index| self.held.get(index));
        range.and_then(|range| range.end.offset_from(at)).unwrap_or(0).min(size)
    }

    /// The object that holds an address, or ends before it in the same chunk.
    pub fn at_or_before(&self, at: Addr) -> Option<Addr> {
        self.area_at(at)?.0.starts.at_or_before(at)
    }

    fn area_at(&self, at: Addr) -> Option<(&Area, u64)> {
        let after = self.areas.partition_point(|area| area.chunk.area.start <= at);
        let index = after.checked_sub(1)?;
        let area = self.areas.get(index).filter(|area| area.chunk.area.contains(at))?;
        Some((area, *self.first.get(index)?))
    }

    /// The map that a word refers to, among those of objects.
    pub fn map_of(&self, word: u64) -> Option<&MapCount> {
        self.maps.get(self.map_index(word)? as usize)
    }

    /// Which of the maps of objects a word refers to.
    fn map_index(&self, word: u64) -> Option<u32> {
        (word & 3 == 1).then_some(())?;
        self.by_map.get(&word.wrapping_sub(1)).copied()
    }
}

impl MapCount {
    /// The first object of the map.
    pub const fn example(&self) -> Object {
        Object { at: self.first, map: self.map, kind: self.kind }
    }
}

/// What is needed to walk chunks.
struct Memory<'h, 'a> {
    heap: Heap<'a>,
    held: &'h [AddrRange],
    /// What the process had.
    mapped: &'h [AddrRange],
    unused: &'h [AddrRange],
}

impl<'a> Memory<'_, 'a> {
    fn walk(&self, chunks: &[Chunk]) -> Part<'a> {
        let mut maps = Maps::new(self.heap);
        let areas = chunks.iter().map(|chunk| self.walk_chunk(&mut maps, *chunk)).collect();
        Part { areas, maps }
    }

    fn walk_chunk(&self, maps: &mut Maps<'a>, chunk: Chunk) -> Area {
        let mut walk = Walk::new(self.heap, maps);
        walk.is_young = chunk.use_ == Use::New;
        let held = walk::held(chunk.area, self.held);
        match chunk.use_ {
            Use::Empty => walk.rest.free = chunk.area.len(),
            Use::Large => walk.one(chunk.area, &held),
            _ => walk.area(chunk.area, &held, self.unused),
        }
        let mapped = walk::len(&walk::held(chunk.area, self.mapped));
        walk.rest.missing = mapped.saturating_sub(walk::len(&held));
        Area { chunk, starts: Starts::new(chunk.area, walk.starts), rest: walk.rest }
    }
}
