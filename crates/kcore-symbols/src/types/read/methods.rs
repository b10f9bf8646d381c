//! Functions of classes (DWARF 5, 5.7.8).

use gimli::constants;

use super::{super::model::TypeLink, entry::DieEntry};
use crate::{DebugInfo, DieId};

/// What the first function of a class returns that has a name; `None` where the class declares none.
pub fn result_of(info: &DebugInfo, class: DieId, name: &str) -> Option<TypeLink> {
    let mut found = None;
    let class = DieEntry::read(info, class).ok()?;
    let walked = class.children(|child| {
        let is_it = || child.name().as_deref() == Some(name);
        if found.is_none() && child.tag() == constants::DW_TAG_subprogram && is_it() {
            found = Some(child.type_link());
        }
        Ok(())
    });
    walked.ok().and(found)
}
