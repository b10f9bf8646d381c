//! Where objects begin: a bit for each place.

use kcore_mem::Addr;

use crate::{graph::Nodes, java::spaces::Spaces};

/// The least bytes of an object, and what their addresses are multiples of.
const STEP: u64 = 8;

/// Marks of where objects begin in each run of memory.
pub(super) struct Starts(Vec<(Addr, Vec<u64>)>);

impl Starts {
    /// None yet.
    pub(super) fn of(spaces: &Spaces) -> Self {
        let marks = |len: u64| usize::try_from(len.div_ceil(STEP * 64)).unwrap_or_default();
        let space = |space: &super::super::spaces::Space| {
            (space.range.start, vec![0; if space.is_one { 1 } else { marks(space.range.len()) }])
        };
        Self(spaces.all.iter().map(space).collect())
    }

    /// Marks the beginning of an object.
    pub(super) fn add(&mut self, at: Addr) {
        if let Some((index, word, bit)) = self.place(at)
            && let Some(word) = self.0.get_mut(index).and_then(|(_, words)| words.get_mut(word))
        {
            *word |= bit;
        }
    }

    fn place(&self, at: Addr) -> Option<(usize, usize, u64)> {
        (at.get() % STEP == 0).then_some(())?;
        let index = self.0.partition_point(|(start, _)| *start <= at).checked_sub(1)?;
        let number = at.offset_from(self.0.get(index)?.0)?.checked_div(STEP)?;
        Some((index, usize::try_from(number / 64).ok()?, 1 << (number % 64)))
    }
}

impl Nodes for Starts {
    fn number(&self, at: Addr) -> Option<u32> {
        let (index, word, bit) = self.place(at)?;
        let word = self.0.get(index)?.1.get(word)?;
        (word & bit != 0).then_some(0)
    }

    fn address(&self, _node: u32) -> Option<Addr> {
        None
    }
}
