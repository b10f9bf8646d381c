//! Things with an address, dealt to parts of the address range of equal width.
//!
//! To sort the symbols or the units of a big program takes longer than anybody waits for a stack, and
//! a stack asks for a few. To deal them takes two passes; only the part that holds an address is
//! looked at then.

/// Numbers of things by the part of the address range that they lie in.
#[derive(Debug, Default)]
pub struct Parts {
    lowest: u64,
    /// Bits of an address within its part.
    shift: u32,
    /// Where the things of each part end in `ids`.
    ends: Vec<u32>,
    ids: Vec<u32>,
}

impl Parts {
    /// About `count` parts for the addresses from `lowest` to `highest`, with nothing in them.
    pub fn new(lowest: u64, highest: u64, count: usize) -> Self {
        let parts = count.max(1).next_power_of_two().ilog2();
        let width = u64::BITS.saturating_sub(highest.saturating_sub(lowest).leading_zeros());
        let shift = width.saturating_sub(parts).min(63);
        let mut parts = Self { lowest, shift, ..Self::default() };
        let last = parts.part_of(highest).unwrap_or(0);
        parts.ends = vec![0; last.saturating_add(1)];
        parts
    }

    /// Deals out things, each given by its first and last address and its number, to all parts that
    /// they reach. Members of a part keep their order.
    #[must_use]
    pub fn deal(mut self, things: impl Iterator<Item = (u64, u64, u32)> + Clone) -> Self {
        for (first, last, _) in things.clone() {
            for count in self.reached(first, last) {
                *count = count.saturating_add(1);
            }
        }
        let mut begin = 0_u32;
        for end in &mut self.ends {
            // A part is filled from where it begins; what is kept then says its end.
            begin = begin.saturating_add(std::mem::replace(end, begin));
        }
        let mut ids = vec![0; begin as usize];
        for (first, last, id) in things {
            for end in self.reached(first, last) {
                if let Some(place) = ids.get_mut(*end as usize) {
                    *place = id;
                    *end = end.saturating_add(1);
                }
            }
        }
        self.ids = ids;
        self
    }

    fn reached(&mut self, first: u64, last: u64) -> &mut [u32] {
        let (first, last) = (self.part_of(first), self.part_of(last));
        let reached = first.zip(last).and_then(|(first, last)| self.ends.get_mut(first..=last));
        reached.unwrap_or_default()
    }

    /// The part of an address; `None` below the lowest one. It may lie behind the last part.
    pub fn part_of(&self, at: u64) -> Option<usize> {
        usize::try_from(at.checked_sub(self.lowest)? >> self.shift).ok()
    }

    /// Addresses in one part.
    pub const fn width(&self) -> u64 {
        1 << self.shift
    }

    /// How many parts there are.
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// What lies in a part.
    pub fn members(&self, part: usize) -> &[u32] {
        let begin = part.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let begin = begin.unwrap_or_default() as usize;
        let end = self.ends.get(part).copied().unwrap_or_default() as usize;
        self.ids.get(begin..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_lie_in_their_part_in_their_order() {
        let parts = Parts::new(0x1000, 0x1fff, 16);
        assert_eq!(parts.len(), 16);
        let at = |at, id| (at, at, id);
        let things = [at(0x1100, 1), at(0x1000, 2), (0x11ff, 0x1200, 3), at(0x1fff, 4)];
        let parts = parts.deal(things.into_iter());
        assert_eq!(parts.members(0), [2]);
        assert_eq!(parts.members(1), [1, 3]);
        assert_eq!(parts.members(15), [4]);
        assert_eq!(parts.members(2), [3]);
        assert!(parts.members(3).is_empty() && parts.members(16).is_empty());
    }

    #[test]
    fn the_whole_address_space_is_a_range_too() {
        let parts = Parts::new(0, u64::MAX, 1);
        assert_eq!((parts.part_of(0), parts.part_of(u64::MAX)), (Some(0), Some(1)));
        assert_eq!(Parts::new(5, 5, 1000).part_of(4), None);
    }
}
