//! Enumerations (DWARF 5, 5.8).

use gimli::constants;

use super::{
    super::model::{Enumeration, Enumerator, TypeKind, TypeLink},
    entry::DieEntry,
};
use crate::dwarf::Result;

/// Reads an enumeration.
pub fn read(entry: &DieEntry<'_>) -> Result<TypeKind> {
    let mut enumerators = Vec::new();
    entry.children(|child| {
        let value = child.constant(constants::DW_AT_const_value);
        if child.tag() == constants::DW_TAG_enumerator
            && let (Some(name), Some(value)) = (child.name(), value)
        {
            enumerators.push(Enumerator { name, value });
        }
        Ok(())
    })?;
    let underlying = entry.reference(constants::DW_AT_type).map(TypeLink::Die);
    let is_class = entry.flag(constants::DW_AT_enum_class);
    Ok(TypeKind::Enumeration(Enumeration { underlying, enumerators, is_class }))
}
