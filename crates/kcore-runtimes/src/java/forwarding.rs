//! Where ZGC moved objects to whose references it has not updated yet (`src/hotspot/share/gc/z/{zForwarding,
//! zForwardingTable,zForwardingEntry,zHash.inline}.hpp`, JDK 17 to 25, and `gc/x` of JDK 21 to 23).

use kcore_mem::Addr;

use super::{memory::Memory, vm_structs::VmStructs};

/// Bytes of the heap that an entry of the table stands for (`ZGranuleSizeShift`).
const GRANULE_SHIFT: u32 = 21;
/// Entries of one page, at most.
const MAX_ENTRIES: u64 = 1 << 20;
/// In an entry: whether it is one, the new offset, and the number of the old place in the page.
const POPULATED: u64 = 1;
const TO_BITS: u64 = (1 << 45) - 1;
const FROM_SHIFT: u32 = 46;

/// The table of pages that objects were moved out of.
#[derive(Clone, Copy, Debug)]
pub struct Forwarding {
    /// How many granules the heap may have, and a pointer to a page's record for each.
    count: u64,
    pages: Addr,
    /// In a record: where the page began, by what places in it are numbered, how many entries there are, and they.
    start: u64,
    alignment: u64,
    length: u64,
    entries: u64,
}

impl Forwarding {
    /// That of a heap; `None` where the tables do not describe it.
    pub fn read(tables: &VmStructs, memory: Memory<'_>, letter: char) -> Option<Self> {
        let offset = |name: &str| tables.offset(&name.replace('Z', &letter.to_string()));
        let heap = memory.pointer(tables.variable("Universe._collectedHeap")?, 0)?;
        let parts = ["ZCollectedHeap._heap", "ZHeap._forwarding_table"];
        let table = parts.into_iter().try_fold(heap, |at, part| at.checked_add(offset(part)?))?;
        Self::at(tables, memory, letter, table)
    }

    /// That whose table lies at an address.
    pub fn at(tables: &VmStructs, memory: Memory<'_>, letter: char, table: Addr) -> Option<Self> {
        let offset = |name: &str| tables.offset(&name.replace('Z', &letter.to_string()));
        let map = table.checked_add(offset("ZForwardingTable._map")?)?;
        let size = tables.size(&format!("{letter}Forwarding"))?;
        Some(Self {
            count: memory.uint(map, 0, 8)?,
            pages: memory.pointer(map, offset("ZGranuleMapForForwarding._map")?)?,
            start: offset("ZForwarding._virtual")?.checked_add(offset("ZVirtualMemory._start")?)?,
            alignment: offset("ZForwarding._object_alignment_shift")?,
            length: offset("ZForwarding._entries")?
                .checked_add(offset("ZAttachedArrayForForwarding._length")?)?,
            entries: size.checked_next_multiple_of(8)?,
        })
    }

    /// The record of the page that held an offset of the heap, where objects were moved out of it.
    pub fn page(&self, memory: Memory<'_>, offset: u64) -> Option<Addr> {
        let granule = offset >> GRANULE_SHIFT;
        (granule < self.count).then_some(())?;
        memory.pointer(self.pages, granule.checked_mul(8)?)
    }

    /// Where the object is now that was at an offset of the heap; `None` of one that was not moved.
    pub fn find(&self, memory: Memory<'_>, offset: u64) -> Option<u64> {
        let page = self.page(memory, offset)?;
        let start = memory.uint(page, self.start, 8)?;
        let shift = u32::try_from(memory.uint(page, self.alignment, 8)?).ok()?;
        let index = offset.checked_sub(start)?.checked_shr(shift)?;
        let length = memory.uint(page, self.length, 8)?;
        (length.is_power_of_two() && length <= MAX_ENTRIES).then_some(())?;
        let mask = length.wrapping_sub(1);
        let first = u64::from(hash(u32::try_from(index).ok()?));
        for by in 0..length {
            let place = first.wrapping_add(by) & mask;
            let entry = memory.uint(page, self.entries.checked_add(place.checked_mul(8)?)?, 8)?;
            if entry & POPULATED == 0 {
                return None;
            }
            if entry >> FROM_SHIFT == index {
                return Some((entry >> 1) & TO_BITS);
            }
        }
        None
    }
}

/// `ZHash::uint32_to_uint32`.
const fn hash(key: u32) -> u32 {
    let key = (!key).wrapping_add(key << 15);
    let key = key ^ (key >> 12);
    let key = key.wrapping_add(key << 2);
    let key = key ^ (key >> 4);
    let key = key.wrapping_mul(2057);
    key ^ (key >> 16)
}
