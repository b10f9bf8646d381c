//! A process made in code, for tests of allocators.

use kcore_mem::{Addr, AddrRange, AddressSpace, Fault, Origin, Region, Target};
use kcore_unwind::Tid;

use crate::{HeapHost, HeapMapping, HeapModule};

/// Parts of memory, the first of which are a module's constants and its data; the others are anonymous.
pub(crate) struct Made {
    parts: Vec<(u64, Vec<u8>)>,
    mappings: Vec<HeapMapping>,
    module: MadeModule,
    pointer: Addr,
}

struct MadeModule {
    constants: AddrRange,
    data: AddrRange,
}

/// The thread that it has.
pub(crate) const THREAD: u32 = 7;

impl Made {
    /// Of constants, data and other parts, none of which overlap, lowest first, and a thread pointer.
    pub(crate) fn new(parts: Vec<(u64, Vec<u8>)>, pointer: u64) -> Self {
        let range =
            |(at, bytes): &(u64, Vec<u8>)| AddrRange::with_len(Addr::new(*at), bytes.len() as u64);
        let mapping = |(index, part): (usize, &(u64, Vec<u8>))| HeapMapping {
            range: range(part),
            readable: true,
            writable: index > 0,
            is_file: index < 2,
            is_brk: false,
        };
        let mappings = parts.iter().enumerate().map(mapping).collect();
        let module = MadeModule { constants: range(&parts[0]), data: range(&parts[1]) };
        Self { mappings, module, parts, pointer: Addr::new(pointer) }
    }
}

/// Writes words into bytes.
pub(crate) fn put(bytes: &mut [u8], at: u64, words: &[u64]) {
    for (index, word) in words.iter().enumerate() {
        let at = at as usize + index * 8;
        bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
}

impl AddressSpace for Made {
    fn target(&self) -> Target {
        Target::X86_64
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let held = self.parts.iter().find_map(|(start, bytes)| {
            let into = usize::try_from(at.get().checked_sub(*start)?).ok()?;
            bytes.get(into..).filter(|left| !left.is_empty())
        });
        held.ok_or(Fault::Unmapped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        let regions =
            self.mappings.iter().map(|it| Region { range: it.range, origin: Origin::Core });
        regions.collect()
    }
}

impl HeapHost for Made {
    fn space(&self) -> &dyn AddressSpace {
        self
    }

    fn modules(&self) -> Vec<&dyn HeapModule> {
        vec![&self.module]
    }

    fn mappings(&self) -> &[HeapMapping] {
        &self.mappings
    }

    fn threads(&self) -> Vec<Tid> {
        vec![Tid::new(THREAD)]
    }

    fn thread_pointer(&self, _: Tid) -> Option<Addr> {
        Some(self.pointer)
    }
}

impl HeapModule for MadeModule {
    fn name(&self) -> &str {
        "made"
    }

    fn span(&self) -> AddrRange {
        AddrRange::new(self.constants.start, self.data.end)
    }

    fn data(&self) -> Vec<AddrRange> {
        vec![self.data]
    }

    fn constants(&self) -> Vec<AddrRange> {
        vec![self.constants]
    }

    fn exported(&self, _: &str) -> Option<(Addr, u64)> {
        None
    }

    fn symbol(&self, _: &str) -> Option<(Addr, u64)> {
        None
    }
}
