//! The addresses that an entry covers, by its attributes.

use gimli::{Attribute, AttributeValue, Range, RangeListsOffset, constants};

use super::{Reader, Result, file::DwarfFile};

/// Ranges of one entry that are looked at: a unit that was linked from many sections has some ten
/// thousand. Hostile entries may all name one long list.
const MAX_RANGES: usize = 1 << 18;
/// The same for a call that was inlined, of which a function may have as many.
const MAX_CALL_RANGES: usize = 1 << 12;

/// What an entry says of its addresses.
#[derive(Default)]
pub struct PcRanges {
    low: Option<u64>,
    high: Option<u64>,
    size: Option<u64>,
    list: Option<RangeListsOffset<usize>>,
}

impl PcRanges {
    /// Takes note of an attribute if it is one of addresses.
    pub fn take(
        &mut self,
        file: &DwarfFile,
        unit: &gimli::Unit<Reader>,
        attribute: &Attribute<Reader>,
    ) -> Result<()> {
        match attribute.name() {
            constants::DW_AT_low_pc => {
                self.low = file.dwarf.attr_address(unit, attribute.value())?;
            }
            constants::DW_AT_high_pc => match attribute.value() {
                AttributeValue::Udata(size) => self.size = Some(size),
                value => self.high = file.dwarf.attr_address(unit, value)?,
            },
            constants::DW_AT_ranges => {
                self.list = file.dwarf.attr_ranges_offset(unit, attribute.value())?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Calls `each` with every range that is not empty; a range list counts before a single range.
    pub fn each(
        &self,
        file: &DwarfFile,
        unit: &gimli::Unit<Reader>,
        mut each: impl FnMut(Range),
    ) -> Result<()> {
        self.until(file, unit, MAX_RANGES, |range| {
            each(range);
            false
        })?;
        Ok(())
    }

    /// Whether one of the ranges holds `pc`.
    pub fn contain(&self, file: &DwarfFile, unit: &gimli::Unit<Reader>, pc: u64) -> Result<bool> {
        self.until(file, unit, MAX_CALL_RANGES, |range| (range.begin..range.end).contains(&pc))
    }

    /// Whether one of the first `max` ranges is the one wanted.
    fn until(
        &self,
        file: &DwarfFile,
        unit: &gimli::Unit<Reader>,
        max: usize,
        mut wanted: impl FnMut(Range) -> bool,
    ) -> Result<bool> {
        let Some(list) = self.list else {
            let range = self.single().filter(|range| range.begin < range.end);
            return Ok(range.is_some_and(wanted));
        };
        let mut ranges = file.dwarf.ranges(unit, list)?;
        for _ in 0..max {
            let Some(range) = ranges.next()? else { break };
            if range.begin < range.end && wanted(range) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The range without a list. The addresses of removed code may wrap around; such a range is
    /// empty.
    fn single(&self) -> Option<Range> {
        let begin = self.low?;
        let end = self.high.or_else(|| Some(begin.wrapping_add(self.size?)))?;
        Some(Range { begin, end })
    }
}
