//! In what an entry lies, and how it is named there.

use std::sync::Arc;

use gimli::constants;

use super::entry::DieEntry;
use crate::{
    DebugInfo, DieId,
    dwarf::{Result, is_scope},
};

/// Definitions and instances that are followed to the entry that has the name.
const MAX_ORIGINS: usize = 16;

/// What the name of an entry lies in.
pub struct Scope {
    /// Its own name.
    pub name: Arc<str>,
    /// Whether names in it count as names around it: an inline namespace.
    pub is_transparent: bool,
}

/// A name, and what it lies in.
pub struct Named {
    /// The name without scopes.
    pub name: Arc<str>,
    /// The scopes, the outermost first.
    pub scope: Vec<Scope>,
}

impl Named {
    /// The name with its scopes: `ns::Outer::Inner`.
    pub fn qualified(&self) -> String {
        let scopes = self.scope.iter().map(|scope| &*scope.name);
        scopes.chain([&*self.name]).collect::<Vec<_>>().join("::")
    }
}

/// The names of what an entry lies in, outermost first.
pub fn scope_of(info: &DebugInfo, id: DieId) -> Result<Vec<Arc<str>>> {
    Ok(scopes(info, id)?.into_iter().map(|scope| scope.name).collect())
}

/// The name of an entry, or of what it defines or is an instance of; `None` without one.
pub fn named(info: &DebugInfo, id: DieId) -> Result<Option<Named>> {
    let mut entry = DieEntry::read(info, id)?;
    for _ in 0..MAX_ORIGINS {
        if let Some(name) = entry.name() {
            return Ok(Some(Named { name, scope: scopes(info, entry.id())? }));
        }
        let origins = [constants::DW_AT_specification, constants::DW_AT_abstract_origin];
        let Some(origin) = origins.into_iter().find_map(|origin| entry.reference(origin)) else {
            return Ok(None);
        };
        entry = DieEntry::read(info, origin)?;
    }
    Ok(None)
}

fn scopes(info: &DebugInfo, id: DieId) -> Result<Vec<Scope>> {
    let (unit, wanted) = info.place(id)?;
    let mut scopes = Vec::new();
    for offset in unit.outline()?.around(wanted).into_iter().rev() {
        let id = DieId { which: id.which, offset: unit.start.saturating_add(offset.0) };
        let entry = DieEntry::read(info, id)?;
        if is_scope(entry.tag()) {
            scopes.extend(scope(&entry));
        }
    }
    Ok(scopes)
}

fn scope(entry: &DieEntry<'_>) -> Option<Scope> {
    let is_namespace = entry.tag() == constants::DW_TAG_namespace;
    let anonymous = || is_namespace.then(|| "(anonymous namespace)".into());
    let own = entry.name();
    let is_transparent = entry.flag(constants::DW_AT_export_symbols)
        || (is_namespace && own.is_none())
        || own.as_deref().is_some_and(|name| name.starts_with("{impl#"));
    Some(Scope { name: own.or_else(anonymous)?, is_transparent })
}
