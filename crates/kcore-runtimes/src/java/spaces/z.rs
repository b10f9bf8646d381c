//! Pages of ZGC (`src/hotspot/share/gc/{z,x}/{zPage,zPageTable,zGranuleMap}.hpp`, JDK 17 to 25).
//!
//! A page says how far it is filled. Objects that were moved out of a page that is still there are told twice.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::{HEAP, Space, Spaces, variable};
use crate::java::{colors::Colors, memory::Memory, vm_structs::VmStructs};

/// Pieces of the heap that may have a page, at most: 16 TB in pieces of 2 MB.
const MAX_GRANULES: u64 = 1 << 24;
/// Bytes of the map of pages that are read at a time.
const CHUNK: u64 = 1 << 20;
/// `ZPageType::large`: pages of one object.
const LARGE: u64 = 2;

/// Where the pages are listed, and what each says of itself.
#[derive(Clone, Copy, Debug)]
pub struct ZLayout {
    heap: Addr,
    /// In the heap, the map of pages: how many there may be, and a pointer to pointers to them.
    map: u64,
    pages: u64,
    kind: u64,
    start: u64,
    top: u64,
    colors: Colors,
}

impl ZLayout {
    /// The layout that the tables of a virtual machine describe.
    ///
    /// # Errors
    /// In words, where they lack something, as in JDK 11.
    pub fn of(
        tables: &VmStructs,
        space: &dyn AddressSpace,
        generational: Option<bool>,
    ) -> Result<Self, String> {
        // JDK 21 to 23 have both kinds, the older one by names with an X.
        let has_both = tables.offset("XCollectedHeap._heap").is_some();
        let letter = if has_both && generational != Some(true) { 'X' } else { 'Z' };
        let need = |name: &str| tables.need(&name.replace('Z', &letter.to_string()));
        let sum = |fields: &[&str]| {
            let offsets = fields.iter().map(|field| need(field));
            offsets.sum::<Result<u64, String>>()
        };
        let map = sum(&["ZCollectedHeap._heap", "ZHeap._page_table", "ZPageTable._map"])?;
        Ok(Self {
            heap: variable(tables, HEAP)?,
            map,
            pages: need("ZGranuleMapForPageTable._map")?,
            kind: need("ZPage._type")?,
            start: sum(&["ZPage._virtual", "ZVirtualMemory._start"])?,
            top: need("ZPage._top")?,
            colors: Colors::read(tables, space, generational)?,
        })
    }

    /// They, as far as they can be read.
    pub fn spaces(&self, memory: Memory<'_>) -> Option<Spaces> {
        let map = memory.pointer(self.heap, 0)?.checked_add(self.map)?;
        let count = memory.uint(map, 0, 8)?.min(MAX_GRANULES);
        let all = AddrRange::with_len(memory.pointer(map, self.pages)?, count.checked_mul(8)?);
        let mut spaces = Spaces::default();
        let mut last = None;
        each_pointer(memory, all, &mut |page| {
            // A big page stands in the map many times.
            if last.replace(page) != Some(page) {
                spaces.add(self.space(memory, page));
            }
        });
        spaces.all.sort_unstable_by_key(|space| space.range.start);
        spaces.all.dedup();
        Some(spaces)
    }

    fn space(&self, memory: Memory<'_>, page: Addr) -> Option<Space> {
        let is_one = memory.uint(page, self.kind, 1)? == LARGE;
        let offset = |field| memory.uint(page, field, 8);
        let (start, top) = (offset(self.start)?, offset(self.top)?);
        let start_at = self.colors.at_offset(start);
        let range = AddrRange::with_len(start_at, top.checked_sub(start)?);
        Some(Space::new(range, is_one))
    }
}

/// Tells the words of some memory that are not zero. Most of it was never written.
fn each_pointer(memory: Memory<'_>, range: AddrRange, tell: &mut dyn FnMut(Addr)) {
    let mut at = range.start;
    while at < range.end {
        let data = memory.0.first_data(AddrRange::new(at, range.end));
        let Some(data) = data.filter(|data| data.end > at) else { return };
        at = at.max(Addr::new(data.start.get() & !7));
        let len = data.end.offset_from(at).unwrap_or_default().clamp(8, CHUNK);
        let bytes = memory.0.read_held(at, len);
        let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        words.filter(|word| *word != 0).for_each(|word| tell(Addr::new(word)));
        at = at.saturating_add((bytes.len() as u64 & !7).max(8));
    }
}
