//! What objects refer to.
//!
//! Each word of an object that may refer to another is looked at; it does if an object of the census begins
//! where it says. So what lies among references, such as pointers to memory that is no heap, does no harm.

use kcore_mem::Addr;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    super::{Heap, V8},
    Census, MapCount,
    shape::{Extent, Tagging},
};
use crate::Host;

/// An object whose end only the next one tells is no longer than this.
const MAX_UNTOLD: u64 = 1 << 16;
const WORD: u64 = 8;
/// Before the pairs of an ephemeron table: its map, its length, and three numbers.
const PAIRS: u64 = 40;

/// A word of an object that refers to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reference {
    /// Where it lies in the object.
    pub offset: u64,
    /// The object that it refers to.
    pub to: Addr,
    /// Whether it does not keep that object.
    pub is_weak: bool,
}

/// Reads what objects refer to.
#[derive(Clone, Copy)]
pub struct References<'a> {
    heap: Heap<'a>,
    census: &'a Census,
    /// The type of the tables of weak maps and sets.
    ephemerons: Option<u64>,
}

impl V8 {
    /// What the object that begins at `at` refers to, lowest offset first; nothing if there is none.
    pub fn references(&self, host: &dyn Host, census: &Census, at: Addr) -> Vec<Reference> {
        let references = References::new(self.heap(host), census);
        let mut found = Vec::new();
        references.each(at, &mut |reference| found.push(reference));
        found
    }

    /// The size in bytes of the object that begins at `at`.
    pub fn object_size(&self, host: &dyn Host, census: &Census, at: Addr) -> Option<u64> {
        let references = References::new(self.heap(host), census);
        references.size_at(at)
    }
}

impl<'a> References<'a> {
    /// Of the objects of a census.
    pub fn new(heap: Heap<'a>, census: &'a Census) -> Self {
        Self { heap, census, ephemerons: heap.ephemeron_table(census) }
    }

    /// The map of the object at `at`.
    pub fn map(&self, at: Addr) -> Option<&'a MapCount> {
        self.census.map_of(self.heap.word(at, 0)?)
    }

    /// The number of the map of the object at `at`, among those of the census.
    pub fn map_index(&self, at: Addr) -> Option<u32> {
        self.census.map_index(self.heap.word(at, 0)?)
    }

    /// The size of the object at `at` in bytes.
    pub fn size_at(&self, at: Addr) -> Option<u64> {
        self.size(at, self.map(at)?)
    }

    /// Where an object first refers to another.
    pub fn offset_of(&self, at: Addr, to: Addr) -> Option<u64> {
        let mut found = None;
        self.each_where(at, &|target| target == to, &mut |reference| {
            found = found.or((!reference.is_weak).then_some(reference.offset));
        });
        found
    }

    /// The size of an object in bytes.
    pub fn size(&self, at: Addr, map: &MapCount) -> Option<u64> {
        match map.shape.extent {
            Extent::Fixed(size) => Some(size),
            Extent::ToNext => Some(self.distance_to_next(at)),
            _ => map.shape.size(&self.heap, at, self.heap.word(at, WORD)?),
        }
    }

    fn distance_to_next(&self, at: Addr) -> u64 {
        let ends = |offset: &u64| {
            let word = self.heap.word(at, *offset);
            word.is_none_or(|word| self.census.map_of(word).is_some())
        };
        let mut offsets = (1..MAX_UNTOLD / WORD).map(|word| word.saturating_mul(WORD));
        offsets.find(ends).unwrap_or(MAX_UNTOLD)
    }

    /// Whether an object is a table whose keys keep its values.
    pub fn is_ephemeron_table(&self, map: &MapCount) -> bool {
        self.ephemerons == Some(map.kind)
    }

    /// Tells each reference of an object, lowest offset first.
    pub fn each(&self, at: Addr, tell: &mut impl FnMut(Reference)) {
        self.each_where(at, &|to| self.census.index_of(to).is_some(), tell);
    }

    /// Tells those references of an object that are to some objects.
    pub fn each_to(&self, at: Addr, wanted: &FxHashSet<Addr>, tell: &mut impl FnMut(Reference)) {
        self.each_where(at, &|to| wanted.contains(&to), tell);
    }

    fn each_where(
        &self,
        at: Addr,
        is_wanted: &impl Fn(Addr) -> bool,
        tell: &mut impl FnMut(Reference),
    ) {
        let Some(map) = self.map(at) else { return };
        let size = self.census.held_from(at, self.size(at, map).unwrap_or(WORD));
        let (below, weak_at) = match map.shape.tagged {
            Tagging::All if self.is_ephemeron_table(map) => (size, Some(PAIRS..size)),
            Tagging::All => (size, None),
            Tagging::Below(offset) => (size.min(offset.max(WORD)), None),
            Tagging::WeakAt(offset) => (size, Some(offset..offset.saturating_add(WORD))),
        };
        self.words(at, below, &mut |offset, word| {
            let to = Addr::new(word & !3);
            if word & 1 == 1 && is_wanted(to) {
                let is_weak =
                    word & 3 == 3 || weak_at.as_ref().is_some_and(|weak| weak.contains(&offset));
                tell(Reference { offset, to, is_weak });
            }
        });
    }

    /// The entries of a table whose keys keep its values: keys and values that are objects.
    pub fn each_pair(&self, table: Addr, tell: &mut impl FnMut(Addr, Addr)) {
        let Some(size) = self.map(table).and_then(|map| self.size(table, map)) else { return };
        let size = self.census.held_from(table, size);
        let mut key = None;
        self.words(table, size, &mut |offset, word| {
            if offset < PAIRS {
                return;
            }
            let object = (word & 1 == 1).then_some(Addr::new(word & !3));
            let object = object.filter(|at| self.census.index_of(*at).is_some());
            if offset.wrapping_sub(PAIRS) % 16 == 0 {
                key = object;
            } else if let (Some(key), Some(value)) = (key, object) {
                tell(key, value);
            }
        });
    }

    /// Tells the words of an object below an offset.
    fn words(&self, at: Addr, below: u64, tell: &mut impl FnMut(u64, u64)) {
        let mut offset = 0;
        while offset < below {
            let Some(from) = at.checked_add(offset) else { return };
            let Ok(bytes) = self.heap.space.slice(from) else { return };
            let wanted = usize::try_from(below.saturating_sub(offset)).unwrap_or(usize::MAX);
            let (words, _) = bytes.get(..wanted).unwrap_or(bytes).as_chunks();
            if words.is_empty() {
                return;
            }
            for word in words {
                tell(offset, u64::from_le_bytes(*word));
                offset = offset.saturating_add(WORD);
            }
        }
    }
}

impl Heap<'_> {
    /// The type of the tables of weak maps and sets, which metadata never has: that of most that there are.
    fn ephemeron_table(&self, census: &Census) -> Option<u64> {
        let types = &self.layout.types;
        let weak = [types.weak_map, types.weak_set];
        let maps = census.maps().iter().filter(|map| weak.contains(&map.kind));
        let tables = maps.filter_map(|map| self.field(map.first, 24));
        let mut counts: FxHashMap<u64, u64> = FxHashMap::default();
        for kind in tables.map(|table| table.kind).filter(|kind| types.is_hash_table(*kind)) {
            let count = counts.entry(kind).or_default();
            *count = count.saturating_add(1);
        }
        counts.into_iter().max_by_key(|(kind, count)| (*count, *kind)).map(|(kind, _)| kind)
    }
}
