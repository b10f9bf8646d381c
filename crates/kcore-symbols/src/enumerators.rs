//! Values of enumerations by their names.

use std::sync::Arc;

use gimli::constants;

use crate::{
    DebugInfo, DieId, Type,
    index::{IndexQuery, What},
    types::DieEntry,
};

/// A value that an enumeration names.
#[derive(Clone, Debug)]
pub struct FoundEnumerator {
    /// The enumeration.
    pub ty: Type,
    /// The value, with its sign.
    pub value: i128,
}

impl DebugInfo {
    /// The values of enumerations that have this name, ordered as [`DebugInfo::find_types`]. The name of the
    /// enumeration may stand before it; of an `enum class` it has to, unless nothing else has the name.
    pub fn find_enumerators(self: &Arc<Self>, name: &str) -> Vec<FoundEnumerator> {
        let ids = self.find_entries(&IndexQuery::new(name, What::Enumerator));
        ids.into_iter().filter_map(|id| self.enumerator_at(id)).collect()
    }

    /// The value that an entry names.
    pub(crate) fn enumerator_at(self: &Arc<Self>, id: DieId) -> Option<FoundEnumerator> {
        let value = DieEntry::read(self, id).ok()?.constant(constants::DW_AT_const_value)?;
        let (unit, offset) = self.place(id).ok()?;
        let around = unit.scopes_around(offset).ok()?;
        let enumeration = unit.start.checked_add(around.first()?.0)?;
        let ty = self.type_at(DieId { which: id.which, offset: enumeration }).ok()?;
        Some(FoundEnumerator { ty, value })
    }
}
