//! In what an entry lies.

use std::sync::Arc;

use gimli::{DwTag, constants};

use super::entry::DieEntry;
use crate::{
    DebugInfo, DieId,
    dwarf::{Result, UnitOffset, Walk, sibling},
};

/// The names of what an entry lies in, outermost first.
pub fn scope_of(info: &DebugInfo, id: DieId) -> Result<Vec<Arc<str>>> {
    let (unit, wanted) = info.place(id)?;
    let around = enclosing(&unit.unit, wanted)?;
    let mut names = Vec::new();
    for offset in around {
        let id = DieId { which: id.which, offset: unit.start.saturating_add(offset.0) };
        let entry = DieEntry::read(info, id)?;
        if is_scope(entry.tag()) {
            names.extend(entry.name().or_else(|| anonymous(entry.tag())));
        }
    }
    Ok(names)
}

/// The entries around an entry, outermost first, without the root.
fn enclosing(
    unit: &gimli::Unit<crate::dwarf::Reader>,
    wanted: UnitOffset,
) -> Result<Vec<UnitOffset>> {
    let mut walk = Walk::new(unit, None)?;
    let mut around: Vec<(isize, UnitOffset)> = Vec::new();
    while let Some(entry) = walk.next(-1)? {
        around.retain(|(depth, _)| *depth < entry.depth);
        if entry.offset >= wanted {
            break;
        }
        let mut next = None;
        walk.attributes(&entry, |attribute| {
            next = next.or_else(|| sibling(attribute));
            Ok(())
        })?;
        match next {
            // What is wanted lies behind the whole of it.
            Some(next) if next <= wanted => walk.pass_children(&entry, Some(next))?,
            _ => around.push((entry.depth, entry.offset)),
        }
    }
    Ok(around.into_iter().filter(|(depth, _)| *depth > 0).map(|(_, offset)| offset).collect())
}

const fn is_scope(tag: DwTag) -> bool {
    matches!(
        tag,
        constants::DW_TAG_namespace
            | constants::DW_TAG_module
            | constants::DW_TAG_structure_type
            | constants::DW_TAG_class_type
            | constants::DW_TAG_interface_type
            | constants::DW_TAG_union_type
            | constants::DW_TAG_enumeration_type
    )
}

fn anonymous(tag: DwTag) -> Option<Arc<str>> {
    (tag == constants::DW_TAG_namespace).then(|| "(anonymous namespace)".into())
}
