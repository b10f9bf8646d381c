//! Where the objects of each collector lie: runs of memory in which one object follows the other.

mod contiguous;
mod g1;
mod shenandoah;
mod z;

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::{flags::Flags, memory::Memory, vm_structs::VmStructs};

/// Regions of one heap, at most.
const MAX_REGIONS: u64 = 1 << 22;
/// The variable that leads to the heap.
const HEAP: &str = "Universe._collectedHeap";

/// A run of memory that holds objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// The memory that is used.
    pub range: AddrRange,
    /// Whether it holds one object, which may reach beyond it.
    pub is_one: bool,
    /// Where its objects end at the latest: no two runs have memory in common.
    pub limit: Addr,
}

/// The runs of a heap.
#[derive(Clone, Debug, Default)]
pub struct Spaces {
    /// They, lowest first.
    pub all: Vec<Space>,
    /// How many of those that the collector lists cannot be read.
    pub unread: u64,
}

/// Where a collector lists its runs.
#[derive(Clone, Debug)]
pub enum Collector {
    /// Some spaces, each filled from its bottom: Serial, Parallel, Epsilon.
    Contiguous(contiguous::ContiguousLayout),
    /// G1.
    G1(g1::G1Layout),
    /// Shenandoah.
    Shenandoah(shenandoah::ShenandoahLayout),
    /// ZGC.
    Z(z::ZLayout),
}

impl Collector {
    /// The one that a virtual machine was told to use.
    ///
    /// # Errors
    /// In words, where its heap cannot be walked.
    pub fn of(tables: &VmStructs, flags: &Flags, space: &dyn AddressSpace) -> Result<Self, String> {
        let is_on = |name| flags.is_on(space, name) == Some(true);
        if is_on("UseConcMarkSweepGC") {
            return Err(
                "the old generation of CMS, the collector in use, is not decoded".to_owned()
            );
        }
        if is_on("UseG1GC") {
            return g1::G1Layout::of(tables).map(Self::G1);
        }
        if is_on("UseShenandoahGC") {
            return shenandoah::ShenandoahLayout::of(tables).map(Self::Shenandoah);
        }
        if is_on("UseZGC") {
            let generational = flags.is_on(space, "ZGenerational");
            return z::ZLayout::of(tables, space, generational).map(Self::Z);
        }
        let paths: &[_] = match () {
            () if is_on("UseSerialGC") => contiguous::SERIAL,
            () if is_on("UseParallelGC") => contiguous::PARALLEL,
            () if is_on("UseEpsilonGC") => contiguous::EPSILON,
            () => {
                return Err(
                    "which collector is in use cannot be read, or it is not known".to_owned()
                );
            }
        };
        contiguous::ContiguousLayout::of(tables, paths).map(Self::Contiguous)
    }

    /// The runs that hold objects.
    pub fn spaces(&self, memory: Memory<'_>) -> Spaces {
        let mut spaces = match self {
            Self::Contiguous(layout) => layout.spaces(memory),
            Self::G1(layout) => layout.spaces(memory).unwrap_or_else(Spaces::nothing),
            Self::Shenandoah(layout) => layout.spaces(memory).unwrap_or_else(Spaces::nothing),
            Self::Z(layout) => layout.spaces(memory).unwrap_or_else(Spaces::nothing),
        };
        spaces.all.retain(|space| !space.range.is_empty());
        spaces.all.sort_unstable_by_key(|space| space.range.start);
        spaces.set_apart();
        spaces
    }
}

impl Space {
    const fn new(range: AddrRange, is_one: bool) -> Self {
        Self { range, is_one, limit: range.end }
    }
}

impl Spaces {
    /// Where not even the list can be read.
    const fn nothing() -> Self {
        Self { all: Vec::new(), unread: 1 }
    }

    /// Leaves out runs that begin within another one, so that memory is walked once, whatever the collector's lists say.
    fn set_apart(&mut self) {
        let before = self.all.len();
        self.all.dedup_by(|next, last| next.range.start < last.range.end);
        let left_out = before.saturating_sub(self.all.len()) as u64;
        self.unread = self.unread.saturating_add(left_out);
        let mut next = Addr::new(u64::MAX);
        for space in self.all.iter_mut().rev() {
            if space.is_one {
                space.limit = next;
            }
            next = space.range.start;
        }
    }

    fn add(&mut self, space: Option<Space>) {
        match space {
            Some(space) => self.all.push(space),
            None => self.unread = self.unread.saturating_add(1),
        }
    }
}

/// The memory between two pointers in an object.
fn between(memory: Memory<'_>, at: Addr, bottom: u64, top: u64) -> Option<AddrRange> {
    let (start, end) = (memory.pointer(at, bottom)?, memory.pointer(at, top)?);
    (start <= end).then(|| AddrRange::new(start, end))
}

/// Where a variable lies.
fn variable(tables: &VmStructs, name: &str) -> Result<Addr, String> {
    let missing = || format!("the virtual machine does not describe {name}");
    tables.variable(name).ok_or_else(missing)
}
