//! Safepoints: what V8 knows of the calls in optimized code, by their return addresses.
//!
//! `src/codegen/safepoint-table.h`, `maglev-safepoint-table.h`: the table follows the instructions. Once V8
//! wants the code to be left, return addresses to it on stacks become those of its exits, which an
//! entry has as well.

use kcore_mem::Addr;

use super::stepped;
use crate::v8::{Code, CodeKind, Heap};

/// Safepoints of one piece of code, at most.
const MAX_ENTRIES: u64 = 1 << 16;

/// A table of safepoints, as far as it leads to deoptimization data.
struct Safepoints {
    entries: Addr,
    count: u64,
    entry_size: u64,
    pc_size: u64,
    index_size: u64,
    /// What is added to indices and exits, so that 0 is none.
    bias: u64,
}

/// Which entry of the deoptimization data counts where code returns to `to`.
pub fn deoptimization_index(heap: &Heap<'_>, code: &Code, to: Addr) -> Option<u64> {
    let offset = code.offset(to)?;
    if heap.layout.has_stepped_safepoints() && code.kind != CodeKind::Maglev {
        return stepped::index_of(heap, code, offset);
    }
    let table = Safepoints::load(heap, code)?;
    let mut entries = (0..table.count).filter_map(|index| table.entry(heap, index));
    let found = entries.find(|(pc, exit, _)| *pc == offset || *exit == Some(offset));
    found.and_then(|(_, _, index)| index)
}

impl Safepoints {
    fn load(heap: &Heap<'_>, code: &Code) -> Option<Self> {
        let at = code.instructions.end;
        if !heap.layout.column.is_since(10, 2) {
            return Self::of_words(heap, at);
        }
        // The slots of the frame come first since V8 13.
        let (count, bits, header) = match heap.layout.column.is_since(13, 6) {
            true => (4, 8, 12),
            false => (0, 4, 8),
        };
        // Maglev's has counts of slots behind those.
        let header = if code.kind == CodeKind::Maglev { 16 } else { header };
        let bits = heap.uint(at, bits, 4)?;
        let field = |shift: u32| (bits >> shift) & 7;
        let (registers, pc_size, index_size) = (field(1), field(4), field(7));
        let has_data = bits & 1 == 1;
        let others =
            if code.kind == CodeKind::Maglev { registers.checked_add(1)? } else { registers };
        has_data.then_some(Self {
            entries: at.checked_add(header)?,
            count: heap.uint(at, count, 4)?.min(MAX_ENTRIES),
            entry_size: pc_size.checked_mul(2)?.checked_add(index_size)?.checked_add(others)?,
            pc_size,
            index_size,
            bias: 1,
        })
    }

    /// Before V8 10: a header of two numbers, and entries of three.
    fn of_words(heap: &Heap<'_>, at: Addr) -> Option<Self> {
        Some(Self {
            entries: at.checked_add(8)?,
            count: heap.uint(at, 0, 4)?.min(MAX_ENTRIES),
            entry_size: 12,
            pc_size: 4,
            index_size: 4,
            bias: 0,
        })
    }

    /// An entry: the offset of a return address, that of the exit behind it, and the index.
    fn entry(&self, heap: &Heap<'_>, index: u64) -> Option<(u64, Option<u64>, Option<u64>)> {
        let at = self.entries.checked_add(index.checked_mul(self.entry_size)?)?;
        let uint = |offset: u64, size: u64| match size {
            0 => Some(0),
            1..=4 => heap.uint(at, offset, usize::try_from(size).ok()?),
            _ => None,
        };
        let told =
            |value: u64| value.checked_sub(self.bias).filter(|it| *it != u64::from(u32::MAX));
        let exit = self.pc_size.checked_add(self.index_size)?;
        Some((
            uint(0, self.pc_size)?,
            told(uint(exit, self.pc_size)?),
            told(uint(self.pc_size, self.index_size)?),
        ))
    }
}
