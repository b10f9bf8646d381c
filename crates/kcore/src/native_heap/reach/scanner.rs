//! The words of memory that point to blocks.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::table::{BlockTable, TableBlock};

/// Bytes of a range in which what a file has no bytes for is passed over. To ask the file costs more than to look at
/// fewer.
const LONG: u64 = 1 << 17;

/// Looks for words that point to blocks, and keeps the run of bytes that it read last.
pub struct Scanner<'t> {
    space: &'t dyn AddressSpace,
    table: &'t BlockTable,
    base: u64,
    bytes: &'t [u8],
}

impl<'t> Scanner<'t> {
    /// Of a space.
    pub const fn new(space: &'t dyn AddressSpace, table: &'t BlockTable) -> Self {
        Self { space, table, base: 0, bytes: &[] }
    }

    /// Tells where each aligned word of a range lies that may point to a block, and the block.
    pub fn each_target(&mut self, range: AddrRange, tell: &mut impl FnMut(u64, TableBlock)) {
        let mut at = range.start.saturating_add(7).get() & !7;
        let end = range.end.get();
        if range.len() < LONG {
            self.each_of_run(at, end, tell);
            return;
        }
        while at < end {
            // Memory of zeros holds no pointer.
            let rest = AddrRange::new(Addr::new(at), range.end);
            let Some(data) = self.space.first_data(rest).filter(|data| data.end.get() > at) else {
                return;
            };
            at = at.max(data.start.get() & !7);
            let until = data.end.saturating_add(7).get().min(end);
            self.each_of_run(at, until, tell);
            at = until.next_multiple_of(8);
        }
    }

    fn each_of_run(&mut self, from: u64, end: u64, tell: &mut impl FnMut(u64, TableBlock)) {
        let (low, high) = self.table.bounds();
        let mut at = from;
        while at < end {
            let bytes = self.run(at);
            if bytes.is_empty() {
                return;
            }
            let wanted = usize::try_from(end.wrapping_sub(at)).unwrap_or(usize::MAX);
            let bytes = bytes.get(..wanted).unwrap_or(bytes);
            let (words, _) = bytes.as_chunks();
            for (index, word) in (0_u64..).zip(words) {
                let value = u64::from_le_bytes(*word);
                if value >= low
                    && value < high
                    && let Some(block) = self.table.find(value)
                {
                    tell(at.wrapping_add(index.wrapping_mul(8)), block);
                }
            }
            at = at.saturating_add((bytes.len() as u64).next_multiple_of(8));
        }
    }

    /// The bytes from an address on, as far as they are in a row.
    fn run(&mut self, at: u64) -> &'t [u8] {
        let held = |base: u64, bytes: &'t [u8]| {
            let offset = usize::try_from(at.checked_sub(base)?).ok()?;
            bytes.get(offset..).filter(|bytes| !bytes.is_empty())
        };
        if let Some(bytes) = held(self.base, self.bytes) {
            return bytes;
        }
        // Most blocks lie near each other, before as well as behind: a page is where a run begins at the latest.
        let page = at & !0xfff;
        let from_page = self.space.slice(Addr::new(page)).unwrap_or_default();
        if let Some(bytes) = held(page, from_page) {
            (self.base, self.bytes) = (page, from_page);
            return bytes;
        }
        (self.base, self.bytes) = (at, self.space.slice(Addr::new(at)).unwrap_or_default());
        self.bytes
    }
}
