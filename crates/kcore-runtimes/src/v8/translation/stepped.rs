//! Safepoints of TurboFan's code since V8 14.7: bytes, each entry a step from the one before.
//!
//! `SafepointTable::Advance` and `DecodeSafepointEntry` in `src/codegen/safepoint-table.cc`, V8 14.7 to 15.0.

use crate::v8::{Code, Heap, positions::Integers};

/// Slots of the frame and a word that says what the table has, before its entries.
const HEADER: u64 = 8;
const CONFIG: u64 = 4;
/// In that word: bytes of the table with its header, whether entries name registers, and whether they lead to
/// deoptimization data.
const LENGTH: u64 = (1 << 30) - 1;
const HAS_REGISTERS: u64 = 1 << 30;
const HAS_DATA: u64 = 1 << 31;
/// Bytes of a table, at most.
const MAX_TABLE: u64 = 1 << 20;
/// The first entry is a step from this offset.
const START: u64 = 1;

/// A table, from an entry on.
struct Steps<'t> {
    rest: Integers<'t>,
    has_registers: bool,
    pc: u64,
    /// The number behind that of the last entry that has one.
    next_index: u64,
    exit: u64,
}

/// An entry that leads to deoptimization data.
struct Entry {
    pc: u64,
    exit: u64,
    index: u64,
}

/// Which entry of the deoptimization data counts where code returns to `offset` in it, or leaves from there.
pub fn index_of(heap: &Heap<'_>, code: &Code, offset: u64) -> Option<u64> {
    let at = code.instructions.end;
    let config = heap.uint(at, CONFIG, 4)?;
    (config & HAS_DATA != 0).then_some(())?;
    let length = (config & LENGTH).min(MAX_TABLE).checked_sub(HEADER)?;
    let bytes = heap.space.read_held(at.checked_add(HEADER)?, length);
    index_in(&bytes, config & HAS_REGISTERS != 0, offset)
}

fn index_in(bytes: &[u8], has_registers: bool, offset: u64) -> Option<u64> {
    let mut steps =
        Steps { rest: Integers(bytes), has_registers, pc: START, next_index: 0, exit: 0 };
    while !steps.rest.0.is_empty() {
        let entry = steps.entry()?.filter(|entry| entry.pc == offset || entry.exit == offset);
        if let Some(entry) = entry {
            return Some(entry.index);
        }
    }
    None
}

impl Steps<'_> {
    /// The next entry, if it leads anywhere; `None` where the table ends within it.
    fn entry(&mut self) -> Option<Option<Entry>> {
        self.pc = self.pc.checked_add(self.rest.next()?)?;
        let step = self.rest.next()?;
        let mut entry = None;
        if let Some(step) = step.checked_sub(1) {
            let index = self.next_index.checked_add(step)?;
            self.next_index = index.checked_add(1)?;
            self.exit = self.exit.checked_add(self.rest.next()?)?;
            entry = Some(Entry { pc: self.pc, exit: self.exit, index });
        }
        if self.has_registers {
            self.rest.next()?;
        }
        self.skip_slots()?;
        Some(entry)
    }

    /// Goes behind the slots that hold tagged values: none, bytes behind their count, or bits.
    fn skip_slots(&mut self) -> Option<()> {
        let first = *self.rest.0.first()?;
        if first & 1 == 0 {
            let count = usize::try_from(self.rest.next()? >> 1).ok()?;
            self.rest.0 = self.rest.0.get(count..)?;
            return Some(());
        }
        // Bits that are left out are counted before.
        if first & 3 == 3 {
            self.rest.next()?;
        }
        let last = self.rest.0.iter().position(|byte| byte & 0x80 == 0)?;
        self.rest.0 = self.rest.0.get(last.checked_add(1)?..)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_steps_from_the_ones_before() {
        // At 5 with data 0 and its exit at 90, no slots; at 7 without data, two bytes of slots; at 12 with
        // data 2 and its exit at 95, bits behind a count of those left out.
        let table = [4, 1, 90, 0, 2, 0, 4, 9, 9, 5, 2, 5, 0b11, 0x81, 1];
        let found = |offset| index_in(&table, false, offset);
        assert_eq!([5, 90, 7, 12, 95].map(found), [Some(0), Some(0), None, Some(2), Some(2)]);
        assert_eq!(index_in(&table[..12], false, 12), None, "the table is cut");
        assert_eq!(index_in(&[4, 1, 90, 6, 0], true, 5), Some(0), "registers are skipped");
    }
}
