//! Regions: blocks of one size, one after the other.

use kcore_mem::{Addr, AddrRange};

use super::instance::{Instance, REGION_SHIFT};
use crate::words::Words;

/// Sizes to which all are rounded up to this one differ by 16 bytes (`SizeClassMap<3, 4, 8, 17>`).
const STEP: u64 = 16;
const LAST_STEP: u64 = 16;
const MIDDLE: u64 = 256;
/// The classes above have four sizes for each power of two; the last one is of 128 KiB.
const LAST: u64 = 52;
/// Bytes at the end of a region that list its free chunks.
const LISTED: u64 = 1 << (REGION_SHIFT - 3);
/// Offsets in `RegionInfo`.
const FREED: u64 = 16;
const LIST: u64 = 24;
const ALLOCATED: u64 = 32;
const MAPPED: u64 = 48;
const GIVEN: u64 = 72;
const TAKEN: u64 = 80;

/// A region, of which all figures are possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Its class, from 1.
    pub class: u64,
    /// Where it begins.
    pub start: u64,
    /// Bytes of each chunk.
    pub size: u64,
    /// How many chunks were made.
    pub chunks: u64,
    /// Bytes that it has from the system.
    pub mapped: u64,
    /// Chunks in its list of free ones, and bytes of the list.
    pub freed: u64,
    /// Bytes that the list has from the system.
    pub list: u64,
    /// Chunks that caches of threads took, and those that they gave back.
    pub given: u64,
    /// See `given`.
    pub taken: u64,
}

/// Bytes of the chunks of a class.
const fn size_of(class: u64) -> u64 {
    if class <= LAST_STEP {
        return class.wrapping_mul(STEP);
    }
    let above = class.wrapping_sub(LAST_STEP);
    let size = MIDDLE << (above >> 2);
    size.wrapping_add((size >> 2).wrapping_mul(above & 3))
}

/// All regions that have something, lowest first, and the `RegionInfo` of those that are impossible.
pub fn read(words: &mut Words<'_>, instance: &Instance) -> (Vec<Region>, Vec<Addr>) {
    let (mut regions, mut torn) = (Vec::new(), Vec::new());
    for class in 1..=LAST {
        let info = instance.info(class);
        match Region::load(words, instance, class) {
            Some(region) if region.mapped == 0 => {}
            Some(region) => regions.push(region),
            None => torn.push(Addr::new(info)),
        }
    }
    (regions, torn)
}

impl Region {
    fn load(words: &mut Words<'_>, instance: &Instance, class: u64) -> Option<Self> {
        let info = instance.info(class);
        let mut word = |offset: u64| words.word(info.checked_add(offset)?);
        let (size, mapped, allocated) = (size_of(class), word(MAPPED)?, word(ALLOCATED)?);
        let region = Self {
            class,
            start: instance.region(class),
            size,
            chunks: allocated.checked_div(size)?,
            mapped,
            freed: word(FREED)?,
            list: word(LIST)?,
            given: word(GIVEN)?,
            taken: word(TAKEN)?,
        };
        let is_possible = mapped <= (1 << REGION_SHIFT) - LISTED
            && allocated <= mapped
            && allocated.is_multiple_of(size)
            && region.list <= LISTED;
        is_possible.then_some(region)
    }

    /// Its memory.
    pub const fn range(&self) -> AddrRange {
        AddrRange::with_len(Addr::new(self.start), self.mapped)
    }

    /// The memory of its list of free chunks.
    pub const fn list_range(&self) -> AddrRange {
        let end = self.start.wrapping_add(1 << REGION_SHIFT);
        AddrRange::with_len(Addr::new(end.wrapping_sub(LISTED)), self.list)
    }

    /// Where a chunk begins.
    pub const fn chunk(&self, index: u64) -> u64 {
        self.start.wrapping_add(index.wrapping_mul(self.size))
    }

    /// The chunk that holds an address.
    pub fn chunk_at(&self, at: u64) -> Option<u64> {
        let index = at.checked_sub(self.start)?.checked_div(self.size)?;
        (index < self.chunks).then_some(index)
    }
}
