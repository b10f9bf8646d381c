//! Memory that is copied besides stacks.

use kcore_elf::core_file::MapLine;
use kcore_mem::{Addr, AddrRange};

/// Pages that are copied besides stacks, at most.
pub const MAX_PAGES: u64 = 4096;
/// Bytes around what was missed that are copied with it: a runtime puts side by side what it makes at about
/// the same time, and threads that run on use the next of it a moment later.
const AROUND: u64 = 64 << 10;

/// Bytes of ranges that are copied as one, at most: where a page refuses, what lies behind it is lost.
const TOGETHER: u64 = 1 << 20;

/// Pages of ranges together.
pub fn pages(ranges: &[AddrRange]) -> u64 {
    ranges.iter().map(|range| range.len() >> 12).fold(0, u64::saturating_add)
}

/// What is wanted, and what was missed with what lies around it, as long as that is not too much.
pub fn with_missed(wanted: &[AddrRange], missed: &[AddrRange], maps: &[MapLine]) -> Vec<AddrRange> {
    let around = missed.iter().map(|range| around(maps, *range));
    let wide = AddrRange::merged(wanted.iter().copied().chain(around));
    if pages(&wide) <= MAX_PAGES { wide } else { AddrRange::merged([wanted, missed].concat()) }
}

/// A range with what lies around it in its mapping.
fn around(maps: &[MapLine], range: AddrRange) -> AddrRange {
    let map = mapping_at(maps, range.start).filter(|map| range.end <= map.range.end);
    let Some(map) = map else { return range };
    let start = range.start.get() & !(AROUND - 1);
    let end = range.end.get().checked_next_multiple_of(AROUND).unwrap_or(u64::MAX);
    AddrRange::new(Addr::new(start).max(map.range.start), Addr::new(end).min(map.range.end))
}

/// The mapping that holds an address, of those in their order.
pub fn mapping_at(maps: &[MapLine], at: Addr) -> Option<&MapLine> {
    let after = maps.partition_point(|map| map.range.start <= at);
    let map = after.checked_sub(1).and_then(|index| maps.get(index));
    map.filter(|map| map.range.contains(at))
}

/// Ranges in order, with what lies between those whose pages are the same or neighbours: one call copies them, which costs
/// more than the bytes between. Ten thousand goroutines have their stacks side by side.
pub fn joined(ranges: Vec<AddrRange>) -> Vec<AddrRange> {
    let page = |at: Addr| at.get() >> 12;
    let mut joined: Vec<AddrRange> = Vec::new();
    for range in ranges {
        let is_near = |last: &&mut AddrRange| {
            let next = page(last.end.wrapping_offset(-1)).saturating_add(1);
            let len = range.end.offset_from(last.start);
            page(range.start) <= next && len.is_some_and(|len| len <= TOGETHER)
        };
        match joined.last_mut().filter(is_near) {
            Some(last) => last.end = range.end,
            None => joined.push(range),
        }
    }
    joined
}

/// Ranges none of which lies in two mappings, as what is copied has to.
pub fn split(ranges: Vec<AddrRange>, maps: &[MapLine]) -> Vec<AddrRange> {
    let mut parts = Vec::new();
    for range in ranges {
        let first = maps.partition_point(|map| map.range.end <= range.start);
        let maps = maps.get(first..).unwrap_or_default().iter();
        let mut start = range.start;
        for map in maps.take_while(|map| map.range.end < range.end) {
            parts.push(AddrRange::new(start, map.range.end));
            start = map.range.end;
        }
        parts.push(AddrRange::new(start, range.end));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> AddrRange {
        AddrRange::new(Addr::new(start), Addr::new(end))
    }

    #[test]
    fn ranges_of_neighbouring_pages_are_copied_together() {
        let far = (0x20_0000, 0x20_0000 + TOGETHER);
        let near = [(0x1000, 0x1328), (0x1800, 0x1b28), (0x2800, 0x2900), (0x4000, 0x4001), far];
        let ranges = near.map(|(start, end)| range(start, end)).to_vec();
        let expected = [range(0x1000, 0x2900), range(0x4000, 0x4001), range(far.0, far.1)];
        assert_eq!(joined(ranges), expected);
        let long = vec![range(0x1000, 0x1000 + TOGETHER), range(0x1000 + TOGETHER, 0x200_0000)];
        assert_eq!(joined(long.clone()), long);
    }

    #[test]
    fn ranges_end_with_mappings() {
        let maps = kcore_elf::core_file::parse_maps(b"10-20 rw-p 0 0:0 0\n20-28 r--p 0 0:0 0");
        let ranges = split(vec![range(0x11, 0x12), range(0x1e, 0x24), range(0x26, 0x28)], &maps);
        let parts = [range(0x11, 0x12), range(0x1e, 0x20), range(0x20, 0x24), range(0x26, 0x28)];
        assert_eq!(ranges, parts);
    }

    #[test]
    fn what_lies_around_is_of_the_same_mapping() {
        let maps = kcore_elf::core_file::parse_maps(
            b"12000-25000 rw-p 0 0:0 0\n25000-90000 rw-p 0 0:0 0\n",
        );
        let missed = [range(0x13000, 0x14000), range(0x5f000, 0x61000), range(0xa0000, 0xa1000)];
        let wanted = with_missed(&[range(0x1000, 0x2000)], &missed, &maps);
        let whole = [(0x1000, 0x2000), (0x12000, 0x20000), (0x50000, 0x70000), (0xa0000, 0xa1000)];
        assert_eq!(wanted, whole.map(|(start, end)| range(start, end)));
    }

    #[test]
    fn too_much_is_left_out() {
        let maps = kcore_elf::core_file::parse_maps(b"0-100000000 rw-p 0 0:0 0\n");
        let missed: Vec<_> = (0..300).map(|at| range(at << 20, (at << 20) + 4096)).collect();
        assert_eq!(pages(&with_missed(&[], &missed, &maps)), 300);
        assert_eq!(pages(&with_missed(&[], &missed[..256], &maps)), MAX_PAGES);
    }
}
