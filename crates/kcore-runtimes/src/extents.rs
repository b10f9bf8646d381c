//! Where functions of a module begin: the sorted table of `.eh_frame_hdr`, which is there without symbols too.

use kcore_elf::Section;
use kcore_mem::{Addr, AddrRange, Svma};

use crate::HostModule;

const SECTION: &str = ".eh_frame_hdr";
/// Version 1, a pointer of 4 bytes from here on, a count of 4 bytes, and a table of pairs of 4 bytes from the section on:
/// what all linkers write.
const HEAD: [u8; 4] = [1, 0x1b, 0x03, 0x3b];
const TABLE: usize = 12;
const PAIR: usize = 8;

/// Where functions of one module begin.
pub struct Extents {
    table: Section,
    first: Svma,
    count: usize,
}

impl Extents {
    /// Those of a module whose file is known.
    pub fn of(module: &dyn HostModule) -> Option<Self> {
        let image = module.image()?;
        let first = image.section(SECTION)?.svma;
        let table = image.section_data(SECTION)?;
        (table.get(..HEAD.len())? == HEAD).then_some(())?;
        let count = u32::from_le_bytes(table.get(8..TABLE)?.try_into().ok()?);
        let count = usize::try_from(count).ok()?;
        let size = count.checked_mul(PAIR)?.checked_add(TABLE)?;
        (size <= table.len()).then_some(Self { table, first, count })
    }

    /// The function that holds code: from its beginning to the beginning of the next.
    pub fn around(&self, module: &dyn HostModule, at: Addr) -> Option<AddrRange> {
        let wanted = module.svma(at)?;
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.checked_add(high)?.checked_div(2)?;
            match self.start(middle)? <= wanted {
                true => low = middle.checked_add(1)?,
                false => high = middle,
            }
        }
        let start = module.addr(self.start(low.checked_sub(1)?)?)?;
        let end = self.start(low).and_then(|end| module.addr(end)).unwrap_or(module.span().end);
        (start < end).then(|| AddrRange::new(start, end))
    }

    fn start(&self, index: usize) -> Option<Svma> {
        (index < self.count).then_some(())?;
        let from = index.checked_mul(PAIR)?.checked_add(TABLE)?;
        let bytes = self.table.get(from..from.checked_add(4)?)?;
        let offset = i32::from_le_bytes(bytes.try_into().ok()?);
        Some(self.first.wrapping_offset(i64::from(offset)))
    }
}
