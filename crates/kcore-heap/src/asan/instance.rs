//! The allocator's object, `__asan::instance`: where its regions and its large blocks are.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange};

use crate::{HeapHost, module_words::each_word, words::Words};

/// Bytes of a region, by their power of two.
pub const REGION_SHIFT: u64 = 36;
/// Regions, not all of which are of a class.
pub const REGIONS: u64 = 64;
/// Bytes of all regions (`kAllocatorSize` of `asan_allocator.h` for x86-64).
const SPACE: u64 = REGIONS << REGION_SHIFT;
/// Bytes of a `RegionInfo`.
pub const INFO: u64 = 128;
/// Offsets in `SizeClassAllocator64`, whose first word is where the regions begin.
const SIZE: u64 = 8;
const INFOS: u64 = 48;
/// Offsets in `LargeMmapAllocator`, which follows it.
const PAGE_SIZE: u64 = 64;
const LARGE: u64 = 72;
const LARGE_COUNT: u64 = 120;
const PAGE: u64 = 4096;

/// What the object says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instance {
    /// Where it lies.
    pub at: Addr,
    /// Where the regions begin.
    pub base: u64,
    /// Where the pointers to headers of large blocks are, and how many there are.
    pub large: (u64, u64),
}

impl Instance {
    /// The one among the data of a module: a word that can be where regions begin, before two others that follow from it.
    pub fn find(host: &dyn HeapHost, data: &[AddrRange]) -> Option<Self> {
        let mut words = Words::new(host.space());
        data.iter().find_map(|range| {
            let mut found = None;
            let _ = each_word(host.space(), *range, &mut |at, value| {
                if value.is_multiple_of(1 << REGION_SHIFT) {
                    found = Self::load(&mut words, at, value);
                }
                if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            found
        })
    }

    fn load(words: &mut Words<'_>, at: Addr, base: u64) -> Option<Self> {
        let mut word = |offset: u64| words.word(at.get().checked_add(offset)?);
        let infos = base.checked_add(SPACE)?;
        let is_it = word(SIZE)? == SPACE.checked_add(REGIONS.checked_mul(INFO)?)?
            && word(INFOS)? == infos
            && word(PAGE_SIZE)? == PAGE;
        let large = (word(LARGE)?, word(LARGE_COUNT)?);
        is_it.then_some(Self { at, base, large })
    }

    /// Where the region of a class begins.
    pub const fn region(&self, class: u64) -> u64 {
        self.base.wrapping_add(class << REGION_SHIFT)
    }

    /// Where the `RegionInfo` of a class lies.
    pub const fn info(&self, class: u64) -> u64 {
        self.base.wrapping_add(SPACE).wrapping_add(class.wrapping_mul(INFO))
    }

    /// Where all of those lie.
    pub const fn infos(&self) -> AddrRange {
        AddrRange::with_len(Addr::new(self.info(0)), REGIONS.wrapping_mul(INFO))
    }

    /// The class whose region holds an address.
    pub fn class_at(&self, at: u64) -> Option<u64> {
        let class = at.checked_sub(self.base)? >> REGION_SHIFT;
        (class < REGIONS).then_some(class)
    }
}
