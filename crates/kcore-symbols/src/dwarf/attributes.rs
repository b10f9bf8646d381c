//! The addresses that an entry covers, by its attributes.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gimli::{Attribute, AttributeValue, Range, RangeListsOffset, Reader as _, constants};

use super::{Reader, Result, file::DwarfFile};

/// Bytes of the shortest entry of a list: its kind, and a number (DWARF 5, 7.25).
const SHORTEST: usize = 2;
/// Ranges that may be looked at in any case.
const FREE: usize = 1 << 12;
/// The same for a call that was inlined, of which a function may have as many.
const MAX_CALL_RANGES: usize = 1 << 12;

/// How many ranges may still be looked at, for all entries together: any number of entries may name one
/// list, or each the end of another one's.
pub struct RangesLeft(AtomicUsize);

impl RangesLeft {
    const fn new(most: usize) -> Self {
        Self(AtomicUsize::new(most))
    }

    /// As many as the lists of a file have, and its line programs, so that entries whose lists do not overlap never miss any.
    pub fn of(file: &DwarfFile) -> Self {
        let mut lists: usize = 0;
        file.dwarf.ranges.borrow(|section| {
            lists = lists.saturating_add(section.len());
            section.clone()
        });
        let sequences = file.line_size() / SHORTEST;
        Self::new((lists / SHORTEST).saturating_add(sequences).saturating_add(FREE))
    }

    /// So many times as many.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Self::new(self.0.into_inner().saturating_mul(times))
    }

    /// Takes one, if there is any.
    pub fn take(&self) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Whether none is left.
    pub fn is_over(&self) -> bool {
        self.0.load(Relaxed) == 0
    }
}

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

    /// Calls `each` with every range that is not empty, until no more are `left` to be read; a range list counts
    /// before a single range.
    pub fn each(
        &self,
        file: &DwarfFile,
        unit: &gimli::Unit<Reader>,
        left: &RangesLeft,
        mut each: impl FnMut(Range),
    ) -> Result<()> {
        self.until(file, unit, left, |range| {
            each(range);
            false
        })?;
        Ok(())
    }

    /// The first address of the first range that is not empty.
    pub fn first(&self, file: &DwarfFile, unit: &gimli::Unit<Reader>) -> Result<Option<u64>> {
        let (left, mut first) = (RangesLeft::new(MAX_CALL_RANGES), None);
        self.until(file, unit, &left, |range| {
            first = Some(range.begin);
            true
        })?;
        Ok(first)
    }

    /// Whether one of the ranges holds `pc`.
    pub fn contain(&self, file: &DwarfFile, unit: &gimli::Unit<Reader>, pc: u64) -> Result<bool> {
        let left = RangesLeft::new(MAX_CALL_RANGES);
        self.until(file, unit, &left, |range| (range.begin..range.end).contains(&pc))
    }

    /// Whether one of the ranges is the one wanted, as long as some are left.
    fn until(
        &self,
        file: &DwarfFile,
        unit: &gimli::Unit<Reader>,
        left: &RangesLeft,
        mut wanted: impl FnMut(Range) -> bool,
    ) -> Result<bool> {
        let Some(list) = self.list else {
            let range = self.single().filter(|range| range.begin < range.end);
            return Ok(range.is_some_and(wanted));
        };
        let mut ranges = file.dwarf.ranges(unit, list)?;
        while left.take()
            && let Some(raw) = ranges.next_raw()?
        {
            let Some(range) = ranges.convert_raw(raw)? else { continue };
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
