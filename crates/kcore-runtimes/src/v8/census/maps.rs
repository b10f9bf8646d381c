//! Maps that were met while a heap was walked.

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::{
    super::{Heap, Tagged, heap::SIZE_OF_MAP},
    shape::Shape,
};

/// Words that are remembered to be no maps, at most.
const MAX_KNOWN: usize = 1 << 16;

// `src/objects/map.tq`.
const INSTANCE_SIZE: u64 = 8;

/// A map, and what was met of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapCount {
    /// Where it lies, without tag.
    pub map: Addr,
    /// The type of its objects.
    pub kind: u64,
    /// What it says of them.
    pub shape: Shape,
    /// How many of them were met.
    pub count: u64,
    /// Their size in bytes, without what they refer to.
    pub bytes: u64,
    /// The first that was met.
    pub first: Addr,
}

/// The maps that were met.
pub struct Maps<'a> {
    heap: Heap<'a>,
    known: FxHashMap<u64, Option<u32>>,
    last: (u64, Option<u32>),
    counts: Vec<MapCount>,
}

impl<'a> Maps<'a> {
    /// None yet.
    pub fn new(heap: Heap<'a>) -> Self {
        Self { heap, known: FxHashMap::default(), last: (0, None), counts: Vec::new() }
    }

    /// The map that a word refers to, if it does.
    pub fn find(&mut self, word: u64) -> Option<u32> {
        if word & 3 != 1 {
            return None;
        }
        if word != self.last.0 {
            self.last = (word, self.look_up(word));
        }
        self.last.1
    }

    fn look_up(&mut self, word: u64) -> Option<u32> {
        if let Some(known) = self.known.get(&word) {
            return *known;
        }
        let loaded = self.load(Tagged::of(word));
        let found = loaded.and_then(|count| {
            let index = u32::try_from(self.counts.len()).ok()?;
            self.counts.push(count);
            Some(index)
        });
        if found.is_some() || self.known.len() < MAX_KNOWN {
            self.known.insert(word, found);
        }
        found
    }

    fn load(&self, value: Tagged) -> Option<MapCount> {
        let heap = &self.heap;
        let map = heap.object(value).filter(|map| map.kind == heap.layout.types.map)?.at;
        let kind = heap.kind_by_map(value)?;
        // The map of maps says it too, in a word that may be damaged.
        let size = match kind == heap.layout.types.map {
            true => SIZE_OF_MAP,
            false => heap.uint(map, INSTANCE_SIZE, 1)?.saturating_mul(8),
        };
        let shape = Shape::of(heap.layout, kind, size);
        Some(MapCount { map, kind, shape, count: 0, bytes: 0, first: Addr::new(0) })
    }

    /// What a map says of its objects.
    pub fn shape(&self, map: u32) -> Option<Shape> {
        self.counts.get(map as usize).map(|count| count.shape)
    }

    /// Counts an object.
    pub fn count(&mut self, map: u32, at: Addr, size: u64) {
        let Some(count) = self.counts.get_mut(map as usize) else { return };
        if count.count == 0 {
            count.first = at;
        }
        count.count = count.count.saturating_add(1);
        count.bytes = count.bytes.saturating_add(size);
    }

    /// What was counted.
    pub fn into_counts(self) -> Vec<MapCount> {
        self.counts
    }
}
