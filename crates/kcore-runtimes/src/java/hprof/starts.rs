//! Where objects begin: a bit for each place of pages that have some.

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use crate::graph::Nodes;

/// What addresses of objects are multiples of, and the bytes of a page.
const STEP: u64 = 8;
const PAGE: u64 = 512;

/// Marks of where objects begin.
#[derive(Default)]
pub(super) struct Starts(FxHashMap<u64, u64>);

impl Starts {
    /// Marks the beginning of an object.
    pub(super) fn add(&mut self, at: Addr) {
        if let Some((page, bit)) = place(at) {
            *self.0.entry(page).or_default() |= bit;
        }
    }
}

fn place(at: Addr) -> Option<(u64, u64)> {
    let bit = 1_u64.checked_shl(u32::try_from((at.get() % PAGE) / STEP).ok()?)?;
    at.get().is_multiple_of(STEP).then_some((at.get() / PAGE, bit))
}

impl Nodes for Starts {
    fn number(&self, at: Addr) -> Option<u32> {
        let (page, bit) = place(at)?;
        (self.0.get(&page)? & bit != 0).then_some(0)
    }

    fn address(&self, _node: u32) -> Option<Addr> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_added_begins() {
        let mut starts = Starts::default();
        starts.add(Addr::new(0x1f8));
        starts.add(Addr::new(0x200));
        let begins = |at| starts.number(Addr::new(at)).is_some();
        assert!(begins(0x1f8) && begins(0x200));
        assert!(![0x1f0, 0x1f9, 0x208, 0].into_iter().any(begins));
    }
}
