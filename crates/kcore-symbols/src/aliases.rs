//! Many symbols at one address: which of them to show, decided once.

use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashMap;

/// Symbols at one address that are compared each time: few addresses have as many.
pub const FEW: usize = 8;

/// The symbols of addresses at which there are many.
#[derive(Debug, Default)]
pub struct AliasesByAddress(RwLock<FxHashMap<u64, Aliases>>);

/// The symbols at one address that may be the answer.
#[derive(Debug)]
pub struct Aliases {
    /// Each symbol with its end, by end: the preferred one of those that reach as far.
    by_end: Vec<(u64, u32)>,
    /// Whether all have a size.
    is_sized: bool,
}

/// What a group says of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This one, if any reaches the address.
    Known(Option<u32>),
    /// Some have no size, so that others must be asked.
    Unsized,
}

impl AliasesByAddress {
    /// Who of the symbols that begin at `start` is shown for `at`. `group` makes their group, where nobody
    /// asked before.
    pub fn choose(&self, start: u64, at: u64, group: impl FnOnce() -> Aliases) -> Choice {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = known.get(&start) {
            return group.choose(at);
        }
        drop(known);
        let group = group();
        let choice = group.choose(at);
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(start, group);
        choice
    }
}

impl Aliases {
    /// Symbols with their ends, the preferred one first; one without a size ends where it begins.
    pub fn new(start: u64, preferred_first: impl Iterator<Item = (u64, u32)>) -> Self {
        let (mut by_end, mut is_sized): (Vec<(u64, u32)>, bool) = (Vec::new(), true);
        for (end, id) in preferred_first {
            is_sized &= end > start;
            if by_end.last().is_none_or(|(last, _)| end > *last) {
                by_end.push((end, id));
            }
        }
        Self { by_end, is_sized }
    }

    fn choose(&self, at: u64) -> Choice {
        if !self.is_sized {
            return Choice::Unsized;
        }
        let first = self.by_end.partition_point(|(end, _)| *end <= at);
        Choice::Known(self.by_end.get(first).map(|(_, id)| *id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_one_that_reaches_the_address_is_chosen() {
        let group = Aliases::new(10, [(14, 1), (12, 2), (20, 3), (20, 4), (30, 5)].into_iter());
        let chosen = [10, 13, 14, 19, 20, 29, 30].map(|at| group.choose(at));
        let known = |id| Choice::Known(Some(id));
        assert_eq!(
            chosen,
            [known(1), known(1), known(3), known(3), known(5), known(5), Choice::Known(None)]
        );
        assert_eq!(Aliases::new(10, [(14, 1), (10, 2)].into_iter()).choose(11), Choice::Unsized);
    }
}
