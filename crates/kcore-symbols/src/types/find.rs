//! Types by their names.

use std::sync::Arc;

use gimli::{Reader as _, constants};

use super::Type;
use crate::{
    DebugInfo, DieId,
    dwarf::{Result, Unit, Walk, Which, sibling},
};

/// The types of that name that lie in no other, definitions first.
pub fn find_types(info: &Arc<DebugInfo>, name: &str) -> Vec<Type> {
    let (starts, _) = info.files().main.starts();
    let mut found = Vec::new();
    for start in starts {
        let Ok(unit) = info.files().main.at(start) else { continue };
        let _ = find_in(info, &unit, name, &mut found);
    }
    found.sort_by_key(|ty: &Type| ty.node().is_declaration);
    found
}

fn find_in(info: &Arc<DebugInfo>, unit: &Unit, name: &str, found: &mut Vec<Type>) -> Result<()> {
    let mut walk = Walk::new(&unit.unit, None)?;
    while let Some(entry) = walk.next(-1)? {
        if entry.depth == 0 {
            walk.pass(&entry)?;
            continue;
        }
        let (mut next, mut is_wanted) = (None, false);
        walk.attributes(&entry, |attribute| {
            next = next.or_else(|| sibling(attribute));
            if attribute.name() == constants::DW_AT_name {
                let text = info.files().string(Which::Main, unit, attribute.value());
                is_wanted = text.is_some_and(|text| {
                    text.to_slice().is_ok_and(|text| *text == *name.as_bytes())
                });
            }
            Ok(())
        })?;
        if is_wanted {
            let offset = unit.start.saturating_add(entry.offset.0);
            found.extend(info.type_at(DieId { which: Which::Main, offset }));
        }
        walk.pass_children(&entry, next)?;
    }
    Ok(())
}
