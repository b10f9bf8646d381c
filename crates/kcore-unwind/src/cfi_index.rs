//! An index over frame descriptions, for sections that have no search table of their own.

use gimli::{BaseAddresses, CieOrFde, EndianSlice, RunTimeEndian, UnwindSection};
use kcore_mem::{Budget, Svma, Watch, sorted_within};

/// Descriptions that are indexed, at most: twenty times those of the largest known programs.
const MAX_ENTRIES: usize = 1 << 24;

/// Start, end (exclusive) and section offset of each frame description, sorted by start.
#[derive(Debug, Default)]
pub struct FdeIndex(Vec<(u64, u64, usize)>);

impl FdeIndex {
    /// Reads every description of a section; a damaged one ends the index there. When the command has to end, the
    /// index is empty.
    pub fn new<'a, S>(section: &S, bases: &BaseAddresses, budget: &Budget) -> Self
    where
        S: UnwindSection<EndianSlice<'a, RunTimeEndian>>,
    {
        let (mut index, mut watch) = (Vec::new(), Watch::new(budget));
        let mut entries = section.entries(bases);
        while let (Ok(Some(entry)), true) = (entries.next(), index.len() < MAX_ENTRIES) {
            if watch.is_over() {
                return Self::default();
            }
            let CieOrFde::Fde(partial) = entry else { continue };
            let Ok(fde) = partial.parse(S::cie_from_offset) else { continue };
            let end = fde.initial_address().saturating_add(fde.len());
            index.push((fde.initial_address(), end, fde.offset()));
        }
        Self(sorted_within(index, budget).unwrap_or_default())
    }

    /// The section offset of the description that covers `at`.
    pub fn find(&self, at: Svma) -> Option<usize> {
        let at = at.get();
        let after = self.0.partition_point(|(start, ..)| *start <= at);
        let (_, end, offset) = self.0.get(after.checked_sub(1)?)?;
        (at < *end).then_some(*offset)
    }
}
