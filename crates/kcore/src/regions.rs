//! Ranges of addresses: together, and less others.

use kcore_mem::{Addr, AddrRange, Region};

/// The parts of `ranges` that no region holds, lowest first and each once. The regions must be in
/// order and must not overlap; the ranges may be anyhow.
pub fn gaps(mut ranges: Vec<AddrRange>, held: &[Region]) -> Vec<AddrRange> {
    ranges.sort_unstable();
    let mut gaps = Vec::new();
    let mut held = held.iter().map(|region| region.range).peekable();
    let mut done = Addr::new(0);
    for range in ranges {
        let mut at = range.start.max(done);
        while at < range.end {
            while held.next_if(|held| held.end <= at).is_some() {}
            let next = held.peek().copied().filter(|held| held.start < range.end);
            let end = next.map_or(range.end, |held| held.start);
            if at < end {
                gaps.push(AddrRange::new(at, end));
            }
            at = next.map_or(range.end, |held| held.end);
        }
        done = done.max(at);
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use kcore_mem::Origin;

    fn range(start: u64, end: u64) -> AddrRange {
        AddrRange::new(Addr::new(start), Addr::new(end))
    }

    fn gaps_of(ranges: &[(u64, u64)], held: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let ranges = ranges.iter().map(|(start, end)| range(*start, *end)).collect();
        let held: Vec<_> = held
            .iter()
            .map(|(start, end)| Region { range: range(*start, *end), origin: Origin::Core })
            .collect();
        gaps(ranges, &held).iter().map(|gap| (gap.start.get(), gap.end.get())).collect()
    }

    #[test]
    fn what_is_held_is_left_out() {
        assert_eq!(gaps_of(&[(10, 20)], &[]), [(10, 20)]);
        assert_eq!(gaps_of(&[(10, 20)], &[(0, 12), (14, 15), (18, 30)]), [(12, 14), (15, 18)]);
        assert_eq!(gaps_of(&[(10, 20)], &[(10, 20)]), []);
        assert_eq!(gaps_of(&[(0, 5), (10, 20)], &[(3, 12)]), [(0, 3), (12, 20)]);
    }

    #[test]
    fn ranges_that_overlap_count_once() {
        assert_eq!(gaps_of(&[(10, 20), (0, 30), (5, 15)], &[(12, 14)]), [(0, 12), (14, 30)]);
        assert_eq!(gaps_of(&[(0, 10), (10, 20), (4, 2)], &[]), [(0, 10), (10, 20)]);
    }
}
