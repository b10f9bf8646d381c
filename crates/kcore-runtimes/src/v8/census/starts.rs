//! Where objects begin in an area: a bit a word.

use kcore_mem::{Addr, AddrRange};

/// Areas that are longer hold few objects.
const MAX_DENSE: u64 = 1 << 20;
const WORD: u64 = 8;

/// Where objects begin in an area.
#[derive(Debug)]
pub struct Starts {
    area: AddrRange,
    places: WordSet,
}

#[derive(Debug)]
enum WordSet {
    /// A bit for each word, and how many are set before each 64 of them.
    Dense { bits: Vec<u64>, before: Vec<u32> },
    /// Indices of words, in order.
    Sparse(Vec<u32>),
}

impl Starts {
    /// Of words of an area, by their indices in order.
    pub fn new(area: AddrRange, places: Vec<u32>) -> Self {
        let places = match area.len() > MAX_DENSE {
            true => WordSet::Sparse(places),
            false => dense(area, &places),
        };
        Self { area, places }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        match &self.places {
            WordSet::Dense { bits, before } => {
                let last = bits.last().map_or(0, |bits| u64::from(bits.count_ones()));
                before.last().map_or(0, |before| u64::from(*before)).saturating_add(last)
            }
            WordSet::Sparse(places) => places.len() as u64,
        }
    }

    /// All of them, lowest first.
    pub fn iter(&self) -> Box<dyn Iterator<Item = Addr> + '_> {
        let start = self.area.start;
        let address = move |word: u64| start.saturating_add(word.saturating_mul(WORD));
        match &self.places {
            WordSet::Dense { bits, .. } => {
                let words = bits.iter().enumerate();
                Box::new(words.flat_map(move |(index, bits)| {
                    let first = (index as u64).saturating_mul(64);
                    set_bits(*bits).map(move |bit| address(first.saturating_add(bit)))
                }))
            }
            WordSet::Sparse(places) => {
                Box::new(places.iter().map(move |word| address(u64::from(*word))))
            }
        }
    }

    /// Which of them begins at an address.
    pub fn index_of(&self, at: Addr) -> Option<u64> {
        let offset = at.offset_from(self.area.start).filter(|offset| offset % WORD == 0)?;
        let word = offset / WORD;
        match &self.places {
            WordSet::Dense { bits, before } => {
                let index = usize::try_from(word / 64).ok()?;
                let (bits, before) = (bits.get(index)?, before.get(index)?);
                let bit = 1_u64 << (word % 64);
                let lower = (bits & bit.wrapping_sub(1)).count_ones();
                (bits & bit != 0).then(|| u64::from(*before).saturating_add(lower.into()))
            }
            WordSet::Sparse(places) => {
                let word = u32::try_from(word).ok()?;
                places.binary_search(&word).ok().map(|index| index as u64)
            }
        }
    }

    /// The last one at or before an address.
    pub fn at_or_before(&self, at: Addr) -> Option<Addr> {
        let mut word = at.offset_from(self.area.start)? / WORD;
        match &self.places {
            WordSet::Dense { bits, .. } => loop {
                let held = bits.get(usize::try_from(word / 64).ok()?)?;
                let upto = u64::MAX >> 63_u64.saturating_sub(word % 64);
                if let Some(bit) = (held & upto).checked_ilog2() {
                    let first = (word / 64).saturating_mul(64);
                    return Some(self.address(first.saturating_add(bit.into())));
                }
                word = (word / 64).checked_mul(64)?.checked_sub(1)?;
            },
            WordSet::Sparse(places) => {
                let after = places.partition_point(|place| u64::from(*place) <= word);
                places.get(after.checked_sub(1)?).map(|place| self.address(u64::from(*place)))
            }
        }
    }

    /// The one of an index.
    pub fn nth(&self, index: u64) -> Option<Addr> {
        match &self.places {
            WordSet::Dense { bits, before } => {
                let block = before.partition_point(|before| u64::from(*before) <= index);
                let block = block.checked_sub(1)?;
                let skip = index.checked_sub(u64::from(*before.get(block)?))?;
                let bit = set_bits(*bits.get(block)?).nth(usize::try_from(skip).ok()?)?;
                Some(self.address((block as u64).saturating_mul(64).saturating_add(bit)))
            }
            WordSet::Sparse(places) => {
                places.get(usize::try_from(index).ok()?).map(|place| self.address((*place).into()))
            }
        }
    }

    const fn address(&self, word: u64) -> Addr {
        self.area.start.saturating_add(word.saturating_mul(WORD))
    }
}

fn dense(area: AddrRange, places: &[u32]) -> WordSet {
    let blocks = area.len().div_ceil(WORD.saturating_mul(64));
    let mut bits = vec![0_u64; usize::try_from(blocks).unwrap_or_default()];
    for place in places {
        if let Some(held) = bits.get_mut((place / 64) as usize) {
            *held |= 1 << (place % 64);
        }
    }
    let before = bits.iter().scan(0_u32, |sum, bits| {
        let before = *sum;
        *sum = sum.saturating_add(bits.count_ones());
        Some(before)
    });
    WordSet::Dense { before: before.collect(), bits }
}

/// Indices of the bits that are set, lowest first.
fn set_bits(bits: u64) -> impl Iterator<Item = u64> {
    let next = |bits: &u64| Some(bits & bits.wrapping_sub(1)).filter(|rest| *rest != 0);
    std::iter::successors(Some(bits).filter(|bits| *bits != 0), next)
        .map(|bits| u64::from(bits.trailing_zeros()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x40_0000;

    fn starts(len: u64) -> Starts {
        let area = AddrRange::with_len(Addr::new(BASE), len);
        Starts::new(area, vec![0, 3, 63, 64, 200])
    }

    #[test]
    fn dense_and_sparse_areas_answer_alike() {
        for starts in [starts(0x1000), starts(MAX_DENSE * 2)] {
            let at = |word: u64| Addr::new(BASE + word * 8);
            assert_eq!(starts.count(), 5);
            let all: Vec<_> = starts.iter().collect();
            assert_eq!(all, [at(0), at(3), at(63), at(64), at(200)]);
            assert_eq!(starts.index_of(at(64)), Some(3));
            assert_eq!([starts.index_of(at(65)), starts.index_of(Addr::new(BASE + 4))], [None; 2]);
            assert_eq!(starts.at_or_before(Addr::new(BASE + 63 * 8 + 5)), Some(at(63)));
            assert_eq!(starts.at_or_before(at(199)), Some(at(64)));
            assert_eq!((0..6).map_while(|index| starts.nth(index)).collect::<Vec<_>>(), all);
        }
    }
}
