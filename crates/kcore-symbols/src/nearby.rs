//! The symbols that begin near an address, without an order of all.

use crate::parts::Parts;

/// Symbols to a part, on average.
const CROWD: usize = 8;
/// Symbols in one part, and parts without any before it, at most: beyond it, addresses are so uneven that an
/// order serves better.
const MAX_CROWD: usize = 1 << 9;
const MAX_EMPTY: usize = 1 << 9;

/// Symbols by the part of the address range that they begin in.
#[derive(Debug, Default)]
pub struct Nearby(Parts);

impl Nearby {
    /// Deals out symbols, each given by its start and its number.
    pub fn new(symbols: impl Iterator<Item = (u64, u32)> + Clone) -> Self {
        let bounds = symbols.clone().fold((u64::MAX, 0, 0_usize), |(low, high, count), symbol| {
            (symbol.0.min(low), symbol.0.max(high), count.saturating_add(1))
        });
        let (lowest, highest, count) = bounds;
        let parts = Parts::new(lowest, highest, count.div_ceil(CROWD));
        Self(parts.deal(symbols.map(|(start, id)| (start, start, id))))
    }

    /// The symbols that begin last at or before `at`, all at one address, by number. `None` where
    /// too many would have to be looked at.
    pub fn last_before(&self, at: u64, start: impl Fn(u32) -> u64) -> Option<Vec<u32>> {
        let Some(part) = self.0.part_of(at) else { return Some(Vec::new()) };
        let from = part.min(self.0.len().saturating_sub(1));
        let last = from.saturating_sub(MAX_EMPTY);
        for part in (last..=from).rev() {
            let members = self.0.members(part);
            if members.len() > MAX_CROWD {
                return None;
            }
            let before = members.iter().copied().filter(|id| start(*id) <= at);
            if let Some(nearest) = before.clone().map(&start).max() {
                return Some(before.filter(|id| start(*id) == nearest).collect());
            }
        }
        (last == 0).then(Vec::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before(starts: &[u64], at: u64) -> Option<Vec<u32>> {
        let nearby = Nearby::new(starts.iter().copied().zip(0..));
        nearby.last_before(at, |id| starts[id as usize])
    }

    #[test]
    fn the_last_start_is_found_in_whatever_part_it_lies() {
        let starts: Vec<u64> = (0..1000).map(|number| 0x1000 + number * 0x10).collect();
        assert_eq!(before(&starts, 0x1000), Some(vec![0]));
        assert_eq!(before(&starts, 0x1fff), Some(vec![255]));
        assert_eq!(before(&starts, u64::MAX), Some(vec![999]));
        assert_eq!(before(&starts, 0xfff), Some(vec![]));
    }

    #[test]
    fn symbols_of_one_start_come_together_in_their_order() {
        assert_eq!(before(&[5, 3, 5, 9, 5], 8), Some(vec![0, 2, 4]));
        assert_eq!(before(&[], 8), Some(vec![]));
        assert_eq!(before(&[7], 7), Some(vec![0]));
    }

    #[test]
    fn empty_parts_between_are_passed_and_crowded_ones_are_refused() {
        let mut starts = vec![0, u64::MAX];
        assert_eq!(before(&starts, 1 << 60), Some(vec![0]));
        starts.extend(std::iter::repeat_n(2, MAX_CROWD + 1));
        assert_eq!(before(&starts, 3), None);
        let mut far: Vec<u64> = (0..1 << 13).map(|number| (3 << 38) + (number << 25)).collect();
        assert_eq!(before(&far, (3 << 38) + 5), Some(vec![0]));
        far.push(0);
        assert_eq!(before(&far, (3 << 38) - 1), None, "most parts before it are empty");
    }

    #[test]
    fn it_agrees_with_a_search_of_all() {
        let mut state = 1_u64;
        let starts: Vec<u64> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) % 5000
        })
        .take(2000)
        .collect();
        for at in 0..5001 {
            let nearest = starts.iter().copied().filter(|start| *start <= at).max();
            let all = (0..).zip(&starts).filter(|(_, start)| Some(**start) == nearest);
            let all: Vec<u32> = all.map(|(id, _)| id).collect();
            assert_eq!(before(&starts, at), Some(all), "{at}");
        }
    }
}
