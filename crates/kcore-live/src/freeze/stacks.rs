//! The used part of a stack: from the stack pointer to the end of its mapping.

use kcore_elf::core_file::MapLine;
use kcore_mem::{Addr, AddrRange};

use super::machine;

/// Bytes in a page, the smallest there is: larger ones are multiples of it.
const PAGE: u64 = 4096;
/// What is copied first of each stack. Most are shorter; one that is longer is copied on once all
/// have had this much.
pub const FIRST_PART: u64 = 64 << 10;

/// A stack, in two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// What is copied first.
    pub first: AddrRange,
    /// What is copied then.
    pub rest: AddrRange,
}

/// The used part of the stack into which `sp` points, at most `limit` bytes of it. A stack pointer into
/// what was not mapped yet when the mappings were read may have a short stack there.
pub fn extent(maps: &[MapLine], sp: u64, limit: u64) -> Extent {
    let lowest = sp.saturating_sub(machine::BELOW_STACK_POINTER) & !(PAGE - 1);
    let (lowest, end) = match mapping_at(maps, Addr::new(sp)) {
        Some(map) => (lowest.max(map.range.start.get()), map.range.end.get()),
        None => (sp & !(PAGE - 1), sp.saturating_add(FIRST_PART) & !(PAGE - 1)),
    };
    let limit = limit.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
    let end = end.min((sp & !(PAGE - 1)).saturating_add(limit)).max(lowest);
    let middle = end.min(lowest.saturating_add(FIRST_PART));
    let range = |start, end| AddrRange::new(Addr::new(start), Addr::new(end));
    Extent { first: range(lowest, middle), rest: range(middle, end) }
}

fn mapping_at(maps: &[MapLine], at: Addr) -> Option<&MapLine> {
    let after = maps.partition_point(|map| map.range.start <= at);
    maps.get(after.checked_sub(1)?).filter(|map| map.range.contains(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maps() -> Vec<MapLine> {
        kcore_elf::core_file::parse_maps(
            b"10000-11000 ---p 0 00:00 0\n11000-91000 rw-p 0 00:00 0\n",
        )
    }

    fn bounds(sp: u64, limit: u64) -> [u64; 3] {
        let extent = extent(&maps(), sp, limit);
        assert_eq!(extent.first.end, extent.rest.start);
        [extent.first.start.get(), extent.first.end.get(), extent.rest.end.get()]
    }

    #[test]
    fn a_stack_ends_with_its_mapping() {
        assert_eq!(bounds(0x8_f010, 8 << 20), [0x8_e000, 0x9_1000, 0x9_1000]);
        assert_eq!(bounds(0x7_0100, 8 << 20), [0x7_0000, 0x8_0000, 0x9_1000]);
    }

    #[test]
    fn what_lies_below_the_stack_pointer_is_not_of_another_mapping() {
        assert_eq!(bounds(0x1_1008, 0x1000)[0], 0x1_1000);
    }

    #[test]
    fn the_limit_counts_from_the_stack_pointer() {
        assert_eq!(bounds(0x2_0100, 0x2001), [0x2_0000, 0x2_3000, 0x2_3000]);
        assert_eq!(bounds(0x2_0010, 0x2000), [0x1_f000, 0x2_2000, 0x2_2000]);
    }

    #[test]
    fn a_stack_that_was_mapped_later_is_tried() {
        assert_eq!(bounds(0xa_0100, 8 << 20), [0xa_0000, 0xb_0000, 0xb_0000]);
        assert_eq!(bounds(u64::MAX, 8 << 20).map(|bound| bound & 0xfff), [0; 3]);
    }
}
