//! A bit for each block, which several threads set.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Blocks whose bits are in one word.
pub const WORD: u32 = u64::BITS;

/// A bit for each block.
pub struct Marks(Vec<AtomicU64>);

impl Marks {
    /// None of so many blocks is marked.
    pub fn new(count: u32) -> Self {
        Self((0..count.div_ceil(WORD)).map(|_| AtomicU64::new(0)).collect())
    }

    /// Sets a mark; says whether it was not set.
    pub fn set(&self, number: u32) -> bool {
        let bit = 1_u64 << (number % WORD);
        let word = self.0.get((number / WORD) as usize);
        // Most marks are set already: to look costs less than to write.
        word.is_some_and(|word| {
            word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Relaxed) & bit == 0
        })
    }

    /// Whether a mark is set.
    pub fn has(&self, number: u32) -> bool {
        self.word(number / WORD) & (1 << (number % WORD)) != 0
    }

    /// The marks of the blocks from `index * WORD` on.
    pub fn word(&self, index: u32) -> u64 {
        self.0.get(index as usize).map_or(0, |word| word.load(Relaxed))
    }

    /// How many words there are.
    pub fn words(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }
}

/// The numbers of the blocks whose bits are set in word `index`.
pub fn numbers_in(index: u32, mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (bit < WORD).then(|| index.saturating_mul(WORD).saturating_add(bit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_set_once_and_is_told_by_its_number() {
        let marks = Marks::new(130);
        for number in [0, 63, 64, 129] {
            assert!(marks.set(number) && !marks.set(number) && marks.has(number));
        }
        assert!(!marks.has(1) && !marks.set(1000) && !marks.has(1000));
        let all = (0..marks.words()).flat_map(|index| numbers_in(index, marks.word(index)));
        assert_eq!(all.collect::<Vec<_>>(), [0, 63, 64, 129]);
    }
}
