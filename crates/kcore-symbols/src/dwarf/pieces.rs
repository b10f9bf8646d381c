//! Which of the calls within one another an address belongs to.

use std::{collections::BTreeMap, ops::Range};

/// Who has what nobody was given.
pub const NOBODY: u32 = u32::MAX;

/// Pieces that are looked at for each range that is given, on average, and in any case: the ranges of a
/// compiler's calls do not overlap.
const MAX_LOOKS: usize = 16;
const FREE_LOOKS: usize = 1 << 12;

/// The address space in pieces, each of which has one owner.
#[derive(Debug, Default)]
pub struct Pieces {
    /// From where on the next owner counts; before the first it is nobody.
    growing: BTreeMap<u64, u32>,
    finished: Vec<(u64, u32)>,
    given: usize,
    looks: usize,
}

impl Pieces {
    /// Gives `range` to `to`, as far as it belongs to `from`. Returns false where too much overlaps.
    pub fn give(&mut self, range: Range<u64>, from: u32, to: u32) -> bool {
        if range.is_empty() {
            return true;
        }
        self.given = self.given.saturating_add(1);
        self.split(range.start);
        self.split(range.end);
        for (_, owner) in self.growing.range_mut(range) {
            self.looks = self.looks.saturating_add(1);
            if *owner == from {
                *owner = to;
            }
        }
        self.looks <= self.given.saturating_mul(MAX_LOOKS).saturating_add(FREE_LOOKS)
    }

    /// Lets a piece begin at `at`.
    fn split(&mut self, at: u64) {
        let owner = self.growing.range(..=at).next_back().map_or(NOBODY, |(_, owner)| *owner);
        self.growing.entry(at).or_insert(owner);
    }

    /// Ends the giving, so that owners can be asked for.
    pub fn finish(&mut self) {
        self.finished = std::mem::take(&mut self.growing).into_iter().collect();
        self.finished.dedup_by_key(|(_, owner)| *owner);
    }

    /// Whose `at` is.
    pub fn at(&self, at: u64) -> u32 {
        let after = self.finished.partition_point(|(start, _)| *start <= at);
        let piece = after.checked_sub(1).and_then(|before| self.finished.get(before));
        piece.map_or(NOBODY, |(_, owner)| *owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_first_has_what_two_claim_and_gives_to_those_within_it() {
        let mut pieces = Pieces::default();
        assert!(pieces.give(10..30, NOBODY, 0));
        assert!(pieces.give(12..20, 0, 1));
        assert!(pieces.give(15..40, 0, 2), "the first call within has 15 to 20");
        assert!(pieces.give(25..50, NOBODY, 3));
        assert!(pieces.give(7..7, NOBODY, 4));
        pieces.finish();
        let owners = [9, 10, 12, 19, 20, 29, 30, 49, 50].map(|at| pieces.at(at));
        assert_eq!(owners, [NOBODY, 0, 1, 1, 2, 2, 3, 3, NOBODY]);
    }

    #[test]
    fn ranges_that_all_overlap_come_to_an_end() {
        let mut pieces = Pieces::default();
        let given = (0..100_000_u32).take_while(|n| {
            let start = u64::from(*n);
            pieces.give(start..start + 1_000_000, NOBODY, *n)
        });
        let given = given.count();
        assert!((1..10_000).contains(&given), "{given}");
    }
}
