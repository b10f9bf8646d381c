//! Which generation of ZGC moved the object that a reference means (`src/hotspot/share/gc/z/{zGeneration,zBarrier.inline,
//! zAddress}.hpp`, JDK 21 to 25).
//!
//! The virtual machine does not describe where a generation keeps its table of moved objects. A generation lies in the
//! heap, and has its number, a pointer to the allocator of pages, one to the table of pages, and then the table, for no more
//! memory than the table of pages is for. Only the two generations may look like that.

use kcore_mem::Addr;

use super::{forwarding::Forwarding, memory::Memory, vm_structs::VmStructs};

/// Bytes of the structure of the heap, at most.
const MAX_HEAP: u64 = 1 << 20;
/// `ZGenerationId`.
const YOUNG: u64 = 0;
const OLD: u64 = 1;
/// Both bits in a reference of the set of what old objects refer to (`ZPointerRememberedMask`).
const REMEMBERED: u64 = 0x30;

/// The tables of moved objects of both generations.
#[derive(Clone, Copy, Debug)]
pub struct Generations {
    young: Forwarding,
    old: Forwarding,
    /// The bit that references have which are up to date, of `RemappedBits`.
    good: u64,
}

/// A reference as memory holds it: its object may have moved since.
#[derive(Clone, Copy, Debug)]
pub struct Stale {
    /// The offset in the heap that it has.
    pub offset: u64,
    /// The one of its four bits that tells when it was up to date.
    pub bits: u64,
    /// All of it.
    pub word: u64,
}

/// What tells a generation in the structure of the heap.
struct Marks {
    allocator: Addr,
    pages: Addr,
    /// Granules that the table of pages is for.
    count: u64,
}

impl Generations {
    /// Those of a heap in which up-to-date references have a bit; `None` where they are not found.
    pub fn read(tables: &VmStructs, memory: Memory<'_>, good: u64) -> Option<Self> {
        good.is_power_of_two().then_some(())?;
        let heap = memory.pointer(tables.variable("Universe._collectedHeap")?, 0)?;
        let heap = heap.checked_add(tables.offset("ZCollectedHeap._heap")?)?;
        let pages = heap.checked_add(tables.offset("ZHeap._page_table")?)?;
        let count = memory.uint(pages, tables.offset("ZPageTable._map")?, 8)?;
        let allocator = heap.checked_add(tables.offset("ZHeap._page_allocator")?)?;
        let marks = Marks { allocator, pages, count };
        let size = tables.size("ZHeap")?.min(MAX_HEAP);
        let mut found = Vec::new();
        for at in (8..size).step_by(8).filter_map(|by| heap.checked_add(by)) {
            found.extend(marks.generation(memory, at));
        }
        let of = |wanted| {
            let mut own = found.iter().filter(|(number, _)| *number == wanted);
            let (_, table) = own.next().filter(|_| own.next().is_none())?;
            Forwarding::at(tables, memory, 'Z', *table)
        };
        Some(Self { young: of(YOUNG)?, old: of(OLD)?, good })
    }

    /// Where the object is now that a reference means; `None` where it still is at the old place.
    pub fn find(&self, memory: Memory<'_>, stale: Stale) -> Option<u64> {
        let (own, good) = (stale.bits.trailing_zeros(), self.good.trailing_zeros());
        // Of the number of the bit, the lower half changes with young collections, the upper one with old ones.
        let moved_by = match (own & 1 == good & 1, own >> 1 == good >> 1) {
            (true, true) => return None,
            (false, true) => &self.young,
            (true, false) => &self.old,
            _ if stale.word & REMEMBERED == REMEMBERED => &self.old,
            _ if self.young.page(memory, stale.offset).is_some() => &self.young,
            _ => &self.old,
        };
        moved_by.find(memory, stale.offset)
    }
}

impl Marks {
    /// The number and the table of the generation whose pointers begin at an address, if one's do.
    fn generation(&self, memory: Memory<'_>, at: Addr) -> Option<(u64, Addr)> {
        let pointers = (memory.pointer(at, 0)?, memory.pointer(at, 8)?);
        let is_one =
            pointers == (self.allocator, self.pages) || pointers == (self.pages, self.allocator);
        let table = at.checked_add(16).filter(|_| is_one)?;
        (1..=self.count).contains(&memory.uint(table, 0, 8)?).then_some(())?;
        let number = memory.uint(Addr::new(at.get().checked_sub(8)?), 0, 1)?;
        (number <= OLD).then_some((number, table))
    }
}
