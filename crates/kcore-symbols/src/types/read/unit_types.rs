//! The types of one unit that stand in one scope.

use std::sync::Arc;

use gimli::constants;

use super::entry::DieEntry;
use crate::{DebugInfo, DieId, TypeError, dwarf::Result};

impl DebugInfo {
    /// The entry of the unit that an entry lies in.
    pub fn unit_of(&self, id: DieId) -> Option<DieId> {
        let (unit, _) = self.place(id).ok()?;
        let root = unit.unit.header.root_offset();
        Some(DieId { which: id.which, offset: unit.start.checked_add(root.0)? })
    }

    /// The structures that stand right in namespaces of these names, the outermost first, of a unit, with their names
    /// as its compiler wrote them. No name is left out, however alike two are.
    ///
    /// # Errors
    /// When the unit cannot be read.
    pub fn structures_of(
        &self,
        unit: DieId,
        scope: &[&str],
    ) -> std::result::Result<Vec<(Arc<str>, DieId)>, TypeError> {
        structures(self, unit, scope).map_err(|error| TypeError::reading(unit, error))
    }
}

fn structures(info: &DebugInfo, unit: DieId, scope: &[&str]) -> Result<Vec<(Arc<str>, DieId)>> {
    let mut level = vec![DieEntry::read(info, unit)?];
    for name in scope {
        let mut next = Vec::new();
        for entry in &level {
            entry.children(|child| {
                let is_namespace = child.tag() == constants::DW_TAG_namespace;
                if is_namespace && child.name().as_deref() == Some(*name) {
                    next.push(child);
                }
                Ok(())
            })?;
        }
        level = next;
    }
    let mut found = Vec::new();
    for entry in &level {
        entry.children(|child| {
            if child.tag() == constants::DW_TAG_structure_type {
                found.extend(child.name().map(|name| (name, child.id())));
            }
            Ok(())
        })?;
    }
    Ok(found)
}
