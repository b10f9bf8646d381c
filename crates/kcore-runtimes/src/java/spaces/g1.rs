//! Regions of G1 (`src/hotspot/share/gc/g1/{heapRegion,g1HeapRegion,heapRegionManager,heapRegionType}.hpp`, JDK 11 to 25).

use kcore_mem::Addr;

use super::{HEAP, MAX_REGIONS, Space, Spaces, between, variable};
use crate::java::{memory::Memory, vm_structs::VmStructs};

/// Where the regions are listed, and what each says of itself.
#[derive(Clone, Copy, Debug)]
pub struct G1Layout {
    heap: Addr,
    /// In the heap: pointers to regions, and how many.
    first: u64,
    count: u64,
    bottom: u64,
    top: u64,
    tag: u64,
    free: u64,
    starts: u64,
    continues: u64,
}

impl G1Layout {
    /// The layout that the tables of a virtual machine describe.
    ///
    /// # Errors
    /// In words, where they lack something.
    pub fn of(tables: &VmStructs) -> Result<Self, String> {
        let one = |names: &[&str]| tables.need_one(names);
        let manager = one(&["G1CollectedHeap._hrm"])?;
        let table = one(&["HeapRegionManager._regions", "G1HeapRegionManager._regions"])?;
        let in_table = |field| {
            let sum =
                manager.checked_add(table).and_then(|sum| sum.checked_add(one(&[field]).ok()?));
            sum.ok_or_else(|| format!("the virtual machine does not describe {field}"))
        };
        let kind = one(&["HeapRegion._type", "G1HeapRegion._type"])?;
        let tag = one(&["HeapRegionType._tag", "G1HeapRegionType._tag"])?;
        let constant = |name: &str| {
            let own = ["HeapRegionType", "G1HeapRegionType"].map(|kind| format!("{kind}::{name}"));
            let found = own.iter().find_map(|name| tables.constant(name));
            found.ok_or_else(|| format!("the virtual machine does not describe {name}"))
        };
        Ok(Self {
            heap: variable(tables, HEAP)?,
            first: in_table("G1HeapRegionTable._base")?,
            count: in_table("G1HeapRegionTable._length")?,
            bottom: one(&["G1HeapRegion._bottom", "HeapRegion._bottom", "Space._bottom"])?,
            top: one(&["G1HeapRegion._top", "HeapRegion._top", "G1ContiguousSpace._top"])?,
            tag: kind.saturating_add(tag),
            free: constant("FreeTag")?,
            starts: constant("StartsHumongousTag")?,
            continues: constant("ContinuesHumongousTag")?,
        })
    }

    /// They, as far as they can be read.
    pub fn spaces(&self, memory: Memory<'_>) -> Option<Spaces> {
        let heap = memory.pointer(self.heap, 0)?;
        let first = memory.pointer(heap, self.first)?;
        let mut spaces = Spaces::default();
        for index in 0..memory.uint(heap, self.count, 8)?.min(MAX_REGIONS) {
            // There is none where the heap did not grow to.
            let Some(region) = memory.pointer(first, index.checked_mul(8)?) else { continue };
            let tag = memory.uint(region, self.tag, 4);
            if tag == Some(self.free) || tag == Some(self.continues) {
                continue;
            }
            let range = between(memory, region, self.bottom, self.top);
            let is_one = tag == Some(self.starts);
            spaces.add(range.filter(|_| tag.is_some()).map(|range| Space::new(range, is_one)));
        }
        Some(spaces)
    }
}
