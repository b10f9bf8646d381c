//! Regions of Shenandoah (`src/hotspot/share/gc/shenandoah/{shenandoahHeap,shenandoahHeapRegion}.hpp`, JDK 17 to 25).

use kcore_mem::Addr;

use super::{HEAP, MAX_REGIONS, Space, Spaces, between, variable};
use crate::java::{memory::Memory, vm_structs::VmStructs};

/// Where the regions are listed, and what each says of itself.
#[derive(Clone, Copy, Debug)]
pub struct ShenandoahLayout {
    heap: Addr,
    regions: u64,
    count: u64,
    state: u64,
    bottom: u64,
    top: u64,
    /// States of regions that hold nothing of their own.
    empty: [Option<u64>; 4],
    /// Those of regions that hold one object, which may go on in the next.
    starts: [Option<u64>; 2],
}

impl ShenandoahLayout {
    /// The layout that the tables of a virtual machine describe.
    ///
    /// # Errors
    /// In words, where they lack something, as in JDK 11.
    pub fn of(tables: &VmStructs) -> Result<Self, String> {
        let state = |name: &str| tables.constant(&format!("ShenandoahHeapRegion::{name}"));
        Ok(Self {
            heap: variable(tables, HEAP)?,
            regions: tables.need("ShenandoahHeap._regions")?,
            count: tables.need("ShenandoahHeap._num_regions")?,
            state: tables.need("ShenandoahHeapRegion._state")?,
            bottom: tables.need("ShenandoahHeapRegion._bottom")?,
            top: tables.need("ShenandoahHeapRegion._top")?,
            empty: ["_empty_uncommitted", "_empty_committed", "_humongous_cont", "_trash"]
                .map(state),
            starts: ["_humongous_start", "_pinned_humongous_start"].map(state),
        })
    }

    /// They, as far as they can be read.
    pub fn spaces(&self, memory: Memory<'_>) -> Option<Spaces> {
        let heap = memory.pointer(self.heap, 0)?;
        let first = memory.pointer(heap, self.regions)?;
        let mut spaces = Spaces::default();
        for index in 0..memory.uint(heap, self.count, 8)?.min(MAX_REGIONS) {
            let region = memory.pointer(first, index.checked_mul(8)?);
            let state = region.and_then(|region| memory.uint(region, self.state, 4));
            if state.is_some() && self.empty.contains(&state) {
                continue;
            }
            let range = region.and_then(|region| between(memory, region, self.bottom, self.top));
            let is_one = self.starts.contains(&state);
            spaces.add(range.filter(|_| state.is_some()).map(|range| Space::new(range, is_one)));
        }
        Some(spaces)
    }
}
