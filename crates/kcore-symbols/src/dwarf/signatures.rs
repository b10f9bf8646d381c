//! Type units by their signatures (DWARF 5, 7.32).

use gimli::UnitType;
use kcore_mem::Watch;
use rustc_hash::FxHashMap;

use super::{unit::header, units::Units};

/// Where types begin that other units refer to by a signature: how far in the section that their units
/// lie in.
#[derive(Debug, Default)]
pub struct Signatures(FxHashMap<u64, usize>);

impl Signatures {
    /// Reads the headers of all units. Those behind a damage are left out.
    pub fn read(units: &Units) -> Self {
        let (starts, _) = units.all_starts();
        let mut watch = Watch::new(&units.file.budget);
        let starts = starts.into_iter().take_while(|_| !watch.is_over());
        let types = starts.filter_map(|start| {
            let header = header(&units.file, start).ok()?;
            let (UnitType::Type { type_signature, type_offset }
            | UnitType::SplitType { type_signature, type_offset }) = header.type_()
            else {
                return None;
            };
            Some((type_signature.0, start.checked_add(type_offset.0)?))
        });
        Self(types.collect())
    }

    /// The entry of the type with this signature.
    pub fn find(&self, signature: u64) -> Option<usize> {
        self.0.get(&signature).copied()
    }
}
