//! Objects that Shenandoah copied while threads go on: references may still lead to the old copies
//! (`src/hotspot/share/gc/shenandoah/{shenandoahForwarding.inline,shenandoahHeapRegion}.hpp`, JDK 17 to 25).
//!
//! The header of an old copy has the address of the new one. That holds for regions that are being evacuated: a full
//! collection writes there where an object will be.

use kcore_mem::{Addr, AddressSpace};

use super::{flags::Flags, memory::Memory, vm_structs::VmStructs};

/// The lowest bits of a header, and their value where the rest is the address of the new copy.
const TAG: u64 = 3;
const MOVED: u64 = 3;
/// Bits of the size of a region, at most.
const MAX_SHIFT: u64 = 40;

/// Where regions say that they are being evacuated.
#[derive(Clone, Copy, Debug)]
pub struct Evacuation {
    regions: Addr,
    count: u64,
    /// Where the heap begins, and the bits of the size of a region.
    base: Addr,
    shift: u32,
    state: u64,
    evacuated: [Option<u64>; 2],
}

impl Evacuation {
    /// That of a heap; `None` with another collector, or where the tables do not describe it.
    pub fn read(tables: &VmStructs, flags: &Flags, space: &dyn AddressSpace) -> Option<Self> {
        (flags.is_on(space, "UseShenandoahGC") == Some(true)).then_some(())?;
        let memory = Memory(space);
        let heap = memory.pointer(tables.variable("Universe._collectedHeap")?, 0)?;
        let regions = memory.pointer(heap, tables.offset("ShenandoahHeap._regions")?)?;
        let bottom = tables.offset("ShenandoahHeapRegion._bottom")?;
        let shift = tables.variable("ShenandoahHeapRegion.RegionSizeBytesShift")?;
        let shift = memory.uint(shift, 0, 8).filter(|shift| *shift <= MAX_SHIFT)?;
        let state = |name| tables.constant(&format!("ShenandoahHeapRegion::{name}"));
        Some(Self {
            regions,
            count: memory.uint(heap, tables.offset("ShenandoahHeap._num_regions")?, 8)?,
            base: memory.pointer(memory.pointer(regions, 0)?, bottom)?,
            shift: u32::try_from(shift).ok()?,
            state: tables.offset("ShenandoahHeapRegion._state")?,
            evacuated: ["_cset", "_pinned_cset"].map(state),
        })
    }

    /// Where the object is now to which a reference leads.
    pub fn resolve(&self, memory: Memory<'_>, at: Addr) -> Addr {
        self.new_copy(memory, at).unwrap_or(at)
    }

    fn new_copy(&self, memory: Memory<'_>, at: Addr) -> Option<Addr> {
        let header = memory.uint(at, 0, 8).filter(|header| header & TAG == MOVED)?;
        let to = Addr::new(header & !TAG);
        let index = |at: Addr| {
            let index = at.offset_from(self.base)?.checked_shr(self.shift)?;
            (index < self.count).then_some(index)
        };
        // The copy lies in the heap as well.
        index(to)?;
        let region = memory.pointer(self.regions, index(at)?.checked_mul(8)?)?;
        let state = memory.uint(region, self.state, 4)?;
        self.evacuated.contains(&Some(state)).then_some(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Host, anchor::made_host::MadeHost};

    /// Two regions of 256 bytes at 0x2000 and 0x2100, of which the first has this state.
    fn resolved(state: u8, header: u64) -> u64 {
        let mut host = MadeHost::new(&[0x1000, 0x2000]);
        for (at, to) in [(0x1000, 0x1100_u64), (0x1008, 0x1200)] {
            host.put(at, &to.to_le_bytes());
        }
        host.put(0x1110, &[state]);
        host.put(0x2040, &header.to_le_bytes());
        let evacuation = Evacuation {
            regions: Addr::new(0x1000),
            count: 2,
            base: Addr::new(0x2000),
            shift: 8,
            state: 0x10,
            evacuated: [Some(6), Some(8)],
        };
        evacuation.resolve(Memory(host.space()), Addr::new(0x2040)).get()
    }

    #[test]
    fn only_a_copy_out_of_a_region_that_is_evacuated_counts() {
        assert_eq!(resolved(6, 0x2110 | 3), 0x2110);
        assert_eq!(resolved(8, 0x2110 | 3), 0x2110);
        assert_eq!(resolved(2, 0x2110 | 3), 0x2040, "a full collection plans to move it");
        assert_eq!(resolved(6, 1), 0x2040, "it was not moved");
        assert_eq!(resolved(6, 0x9000 | 3), 0x2040, "that is not in the heap");
    }
}
