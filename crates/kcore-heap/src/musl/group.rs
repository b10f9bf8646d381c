//! A group: slots of one size, and the `meta` that tells of them.

use kcore_mem::{Addr, AddrRange};

use super::context::{Context, META, SLOTS};
use crate::{HeapHost, HeapMapping, words::Words};

/// Bytes in which sizes are counted.
pub const UNIT: u64 = 16;
/// Bytes of a header, which lies before the slot that it is of.
pub const HEADER: u64 = 4;
/// Bytes of a page in which mapped groups are counted.
const PAGE: u64 = 4096;
/// Offsets in `struct meta`.
const MEM: u64 = 16;
const AVAILABLE: u64 = 24;
const FREED: u64 = 28;
const BITS: u64 = 32;

/// Sizes of slots in units (`size_classes` of `src/malloc/mallocng/malloc.c`).
const CLASSES: [u64; 48] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 25, 31, 36, 42, 50, 63, 72, 84, 102, 127, 146,
    170, 204, 255, 292, 340, 409, 511, 584, 682, 818, 1023, 1169, 1364, 1637, 2047, 2340, 2730,
    3276, 4095, 4680, 5460, 6552, 8191,
];

/// A group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// Its `meta`.
    pub meta: u64,
    /// Where it lies: a header of 16 bytes, and then its slots.
    pub mem: u64,
    /// Slots that were never handed out since it was made.
    pub available: u32,
    /// Slots that were freed.
    pub freed: u32,
    /// How many slots there are.
    pub slots: u64,
    /// Bytes of a slot.
    pub stride: u64,
    /// Bytes that it has mapped for itself; 0 of one in a slot of another group, or in memory of the program's data.
    pub mapped: u64,
}

impl Group {
    /// Of a `meta`; `None` of one that is not in use, or whose class is impossible.
    fn load(words: &mut Words<'_>, meta: u64) -> Option<Self> {
        let mem = words.word(meta.checked_add(MEM)?).filter(|mem| *mem != 0)?;
        let available = words.half(meta.checked_add(AVAILABLE)?)?;
        let freed = words.half(meta.checked_add(FREED)?)?;
        let bits = words.word(meta.checked_add(BITS)?)?;
        let (last, class, pages) = (bits & 31, (bits >> 6) & 63, bits >> 12);
        let mapped = pages.checked_mul(PAGE)?;
        let stride = match (last, pages) {
            (0, 1..) => mapped.checked_sub(UNIT)?,
            _ => CLASSES.get(usize::try_from(class).ok()?)?.checked_mul(UNIT)?,
        };
        let slots = last.checked_add(1)?;
        let group = Self { meta, mem, available, freed, slots, stride, mapped };
        let taken = slots.checked_mul(stride)?.checked_add(UNIT)?;
        // The end must be an address.
        mem.checked_add(taken)?.checked_add(mapped)?;
        // What is mapped is what its slots take, in pages (`alloc_group`).
        let is_whole = mapped == 0 || taken.checked_next_multiple_of(PAGE) == Some(mapped);
        is_whole.then_some(group)
    }

    /// Whether what it has mapped lies in a mapping.
    fn is_in_mapping(&self, host: &dyn HeapHost) -> bool {
        let range = self.range();
        let holds = |mapping: HeapMapping| mapping.range.end >= range.end;
        self.mapped == 0 || host.mapping_at(range.start).is_some_and(holds)
    }

    /// Where its slots begin.
    pub const fn storage(&self) -> u64 {
        self.mem.wrapping_add(UNIT)
    }

    /// All that it takes.
    pub const fn range(&self) -> AddrRange {
        let slots = UNIT.wrapping_add(self.slots.wrapping_mul(self.stride));
        let len = if self.mapped > slots { self.mapped } else { slots };
        AddrRange::with_len(Addr::new(self.mem), len)
    }

    /// Where a slot begins.
    pub const fn slot(&self, index: u64) -> u64 {
        self.storage().wrapping_add(index.wrapping_mul(self.stride))
    }

    /// Whether a slot is free.
    pub const fn is_free(&self, index: u64) -> bool {
        (self.available | self.freed) & (1_u32.wrapping_shl(index as u32)) != 0
    }

    /// The slot that holds an address.
    pub fn slot_at(&self, at: u64) -> Option<u64> {
        let index = at.checked_sub(self.storage())?.checked_div(self.stride)?;
        (index < self.slots).then_some(index)
    }
}

/// What metas tell.
#[derive(Debug, Default)]
pub struct Groups {
    /// The groups, lowest first.
    pub all: Vec<Group>,
    /// Metas that are in use and impossible.
    pub torn: Vec<Addr>,
}

/// Reads all metas. One that is impossible costs the others nothing.
pub fn read(host: &dyn HeapHost, context: &Context) -> Groups {
    let mut words = Words::new(host.space());
    let mut groups = Groups::default();
    for (area, count) in &context.areas {
        let first = area.get().wrapping_add(SLOTS);
        for meta in (0..*count).map(|index| first.wrapping_add(index.wrapping_mul(META))) {
            if words.word(meta.wrapping_add(MEM)).is_none_or(|mem| mem == 0) {
                continue;
            }
            match Group::load(&mut words, meta).filter(|group| group.is_in_mapping(host)) {
                Some(group) => groups.all.push(group),
                None => groups.torn.push(Addr::new(meta)),
            }
        }
    }
    groups.all.sort_unstable_by_key(|group| group.mem);
    // Two groups in one place cannot be.
    groups.all.dedup_by_key(|group| group.mem);
    groups
}

/// Whether the group's memory leads back to its `meta`.
pub fn leads_back(words: &mut Words<'_>, group: &Group) -> bool {
    words.word(group.mem) == Some(group.meta)
}
