//! The read-only heap of a V8 of which nothing else is known: where its map of maps is, and what that tells of the layouts.
//!
//! `src/heap/read-only-heap.h`, `src/objects/map.h` of V8 9.4 to 15.0. The map of maps is the one object whose first
//! word is its own address. It lies near the beginning of a page, since nearly all objects need it first.

use kcore_mem::{Addr, AddressSpace};

use super::{
    Heap,
    heap::{Object, SIZE_OF_MAP},
};
use crate::{Host, HostRange};

/// Pages of the heap begin at multiples of this.
const PAGE: u64 = 256 << 10;
/// Bytes of a page in which the map of maps is looked for: it lay within 8 KiB in all versions that were seen.
const FIRST: u64 = 16 << 10;
/// Bytes of its page in which `undefined` is looked for.
const NEAR: u64 = 64 << 10;
/// Pages that are looked at, at most.
const MAX_PAGES: usize = 4096;
/// Maps of maps that are looked at, at most.
const MAX_FOUND: usize = 256;
/// `Map::kSize` where pointers are compressed.
const SIZE_OF_COMPRESSED_MAP: u64 = 40;
/// What every V8 has in its read-only heap, by the text of it.
const UNDEFINED: &str = "undefined";

/// How references to objects are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pointers {
    /// As addresses of 8 bytes.
    Whole,
    /// As the lower 4 bytes of addresses in one area of 4 GiB.
    Compressed,
}

/// A map that is its own map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapOfMaps {
    /// Where it lies, without tag.
    pub at: Addr,
    /// The instance type of maps, as it says.
    pub kind: u64,
    /// How references are kept.
    pub pointers: Pointers,
}

/// The maps of maps of a process. Beside that of the read-only heap every global object has one.
pub fn find(host: &dyn Host) -> Vec<MapOfMaps> {
    let ranges = host.ranges();
    let may_hold = |range: &&HostRange| {
        let starts = range.range.start.get().is_multiple_of(PAGE);
        starts && range.readable && !range.executable && !range.is_file
    };
    let pages = ranges.iter().filter(may_hold).take(MAX_PAGES);
    let found = pages.filter_map(|page| in_page(host.space(), page.range.start));
    found.take(MAX_FOUND).collect()
}

/// That of a page, if it has one.
pub fn in_page(space: &dyn AddressSpace, page: Addr) -> Option<MapOfMaps> {
    let bytes = space.read_held(page, FIRST);
    let at = |offset: usize| page.checked_add(offset as u64);
    let found = |offset: usize| {
        let (at, bytes) = (at(offset)?, bytes.get(offset..)?);
        whole(at, bytes).or_else(|| compressed(at, bytes))
    };
    (0..bytes.len()).step_by(4).find_map(found)
}

/// The map of maps that bytes are where references are whole.
fn whole(at: Addr, bytes: &[u8]) -> Option<MapOfMaps> {
    (at.get().is_multiple_of(8) && word(bytes, 0)? == at.get() | 1).then_some(())?;
    let is_reference =
        |offset| word(bytes, offset).is_some_and(|word| word & 3 == 1 && word >> 48 == 0);
    let refers = [24, 32, 40].into_iter().all(is_reference);
    let kind = u64::from(u16::from_le_bytes(*bytes.get(12..14)?.first_chunk()?));
    refers.then_some(())?;
    is_size(*bytes.get(8)?, SIZE_OF_MAP / 8).then_some(())?;
    Some(MapOfMaps { at, kind, pointers: Pointers::Whole })
}

/// The same where they are compressed.
fn compressed(at: Addr, bytes: &[u8]) -> Option<MapOfMaps> {
    let low = |offset: usize| Some(u32::from_le_bytes(*bytes.get(offset..)?.first_chunk()?));
    (u64::from(low(0)?) == at.get() & 0xffff_ffff | 1).then_some(())?;
    let refers =
        [16, 20, 24].into_iter().all(|offset| low(offset).is_some_and(|word| word & 3 == 1));
    let kind = u64::from(u16::from_le_bytes(*bytes.get(8..10)?.first_chunk()?));
    (refers && kind != 0).then_some(())?;
    is_size(*bytes.get(4)?, SIZE_OF_COMPRESSED_MAP / 4).then_some(())?;
    Some(MapOfMaps { at, kind, pointers: Pointers::Compressed })
}

/// Whether a map says that maps are of a size in words: since V8 14.9 they are of several, and it says none.
fn is_size(told: u8, words: u64) -> bool {
    told == 0 || u64::from(told) == words
}

fn word(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

impl MapOfMaps {
    /// Whether the heap around it is laid out as `heap` has it: maps have their type, and among the objects beside it
    /// is `undefined`, which takes maps, oddballs and strings to be found.
    pub fn fits(&self, heap: &Heap<'_>) -> bool {
        self.pointers == Pointers::Whole
            && self.kind == heap.layout.types.map
            && heap.is_map_of_maps(self.at)
            && self.has_undefined(heap)
    }

    fn has_undefined(&self, heap: &Heap<'_>) -> bool {
        let page = Addr::new(self.at.get() & !(PAGE - 1));
        let mut objects =
            (0..NEAR).step_by(8).filter_map(|offset| oddball_at(heap, page.checked_add(offset)?));
        objects.any(|object| heap.oddball(object).is_some_and(|text| text == UNDEFINED))
    }
}

/// The oddball at an address, if one lies there.
fn oddball_at(heap: &Heap<'_>, at: Addr) -> Option<Object> {
    (heap.word(at, 0)? & 3 == 1).then_some(())?;
    heap.object_at(at).filter(|object| object.kind == heap.layout.types.oddball)
}
