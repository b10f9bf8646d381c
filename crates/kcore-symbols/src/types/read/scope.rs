//! In what an entry lies, and how it is named there.

use std::sync::Arc;

use gimli::constants;

use super::{entry::DieEntry, template::Namer};
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
    /// Whether names in it count as names around it: an inline namespace, an enumeration of C.
    pub is_transparent: bool,
    /// Whether it is a type.
    pub is_type: bool,
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

/// The names of what an entry, or what it defines or is an instance of, lies in, outermost first.
pub fn scope_of(info: &DebugInfo, id: DieId) -> Result<Vec<Arc<str>>> {
    let namer = Namer::new(info);
    let (_, declared) = declared(&namer, DieEntry::read(info, id)?)?;
    Ok(scopes(&namer, declared)?.into_iter().map(|scope| scope.name).collect())
}

/// The name of an entry, or of what it defines or is an instance of; `None` without one.
pub fn named(info: &DebugInfo, id: DieId) -> Result<Option<Named>> {
    named_by(&Namer::new(info), id)
}

/// The same, as part of a name.
pub fn named_by(namer: &Namer<'_>, id: DieId) -> Result<Option<Named>> {
    let (name, declared) = declared(namer, DieEntry::read(namer.info, id)?)?;
    let Some(name) = name else { return Ok(None) };
    Ok(Some(Named { name, scope: scopes(namer, declared)? }))
}

/// The name of an entry itself.
pub fn name_of(info: &DebugInfo, id: DieId) -> Result<Option<Arc<str>>> {
    own_name(info, &DieEntry::read(info, id)?)
}

/// The scope that an entry is.
pub fn scope_at(info: &DebugInfo, id: DieId) -> Result<Option<Scope>> {
    scope(&Namer::new(info), &DieEntry::read(info, id)?)
}

/// The same without its scopes.
pub fn own_name(info: &DebugInfo, entry: &DieEntry<'_>) -> Result<Option<Arc<str>>> {
    own_name_by(&Namer::new(info), entry)
}

fn own_name_by(namer: &Namer<'_>, entry: &DieEntry<'_>) -> Result<Option<Arc<str>>> {
    if let Some(name) = entry.name() {
        return Ok(Some(namer.complete(entry, name)));
    }
    let Some(origin) = origin(entry) else { return Ok(None) };
    Ok(declared(namer, DieEntry::read(namer.info, origin)?)?.0)
}

/// The name of an entry, and the one that stands where the name is declared: a definition may stand
/// outside of the class or the namespace that it belongs to.
fn declared<'a>(namer: &Namer<'a>, mut entry: DieEntry<'a>) -> Result<(Option<Arc<str>>, DieId)> {
    let name_of = |entry: &DieEntry<'a>| Some(namer.complete(entry, entry.name()?));
    let mut name = name_of(&entry);
    for _ in 0..MAX_ORIGINS {
        let Some(origin) = origin(&entry) else { break };
        entry = DieEntry::read(namer.info, origin)?;
        name = name.or_else(|| name_of(&entry));
    }
    Ok((name, entry.id()))
}

/// What an entry defines, is an instance of, or stands for.
fn origin(entry: &DieEntry<'_>) -> Option<DieId> {
    let attributes = [
        constants::DW_AT_specification,
        constants::DW_AT_abstract_origin,
        constants::DW_AT_signature,
    ];
    attributes.into_iter().find_map(|attribute| entry.reference(attribute))
}

fn scopes(namer: &Namer<'_>, id: DieId) -> Result<Vec<Scope>> {
    let info = namer.info;
    let (unit, wanted) = info.place(id)?;
    let mut scopes = Vec::new();
    for offset in unit.scopes_around(wanted)?.into_iter().rev() {
        let id = DieId { which: id.which, offset: unit.start.saturating_add(offset.0) };
        let entry = DieEntry::read(info, id)?;
        if is_scope(entry.tag()) {
            scopes.extend(scope(namer, &entry)?);
        }
    }
    Ok(scopes)
}

fn scope(namer: &Namer<'_>, entry: &DieEntry<'_>) -> Result<Option<Scope>> {
    let is_namespace = entry.tag() == constants::DW_TAG_namespace;
    let anonymous = || is_namespace.then(|| "(anonymous namespace)".into());
    let own = own_name_by(namer, entry)?;
    let is_type = !is_namespace && entry.tag() != constants::DW_TAG_module;
    let is_transparent = entry.flag(constants::DW_AT_export_symbols)
        || (is_namespace && own.is_none())
        || (entry.tag() == constants::DW_TAG_enumeration_type
            && !entry.flag(constants::DW_AT_enum_class))
        || own.as_deref().is_some_and(|name| name.starts_with("{impl#"));
    Ok(own.or_else(anonymous).map(|name| Scope { name, is_transparent, is_type }))
}
