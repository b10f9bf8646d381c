//! One variable, from its entry and those that it is an instance of.

use std::{iter, sync::Arc};

use gimli::constants;
use kcore_mem::Svma;

use super::{Variable, VariableKind, VariableLocation, location};
use crate::{DebugInfo, DieId, Language, TypeLink, dwarf::Result, types::DieEntry};

/// References that are followed from an instance to what it is one of.
const MAX_ORIGINS: usize = 16;

/// The variable at an entry, while code at `pc` runs.
pub fn read(info: &Arc<DebugInfo>, id: DieId, pc: Option<Svma>) -> Result<Variable> {
    Chain::of(DieEntry::read(info, id)?)?.variable(info, pc)
}

/// An entry, and those that it is an instance of, one behind the other: each says what those before it
/// do not.
pub struct Chain<'a> {
    /// The entry itself.
    pub own: DieEntry<'a>,
    origins: Vec<DieEntry<'a>>,
}

impl<'a> Chain<'a> {
    /// Follows the references of an entry.
    pub fn of(own: DieEntry<'a>) -> Result<Self> {
        let mut origins: Vec<DieEntry<'a>> = Vec::new();
        while origins.len() < MAX_ORIGINS
            && let Some((info, id)) = origin(origins.last().unwrap_or(&own))
        {
            origins.push(own.beside(info, id)?);
        }
        Ok(Self { own, origins })
    }

    /// Its entries, its own first.
    pub fn entries(&self) -> impl Iterator<Item = &DieEntry<'a>> {
        iter::once(&self.own).chain(&self.origins)
    }

    /// Where its entries are.
    pub fn ids(&self) -> impl Iterator<Item = DieId> {
        self.entries().map(DieEntry::id)
    }

    /// The variable that it describes. Where the entry itself says nothing of its place, those behind
    /// it do if it is the same for all instances.
    ///
    /// # Errors
    /// When no more may be read.
    pub fn variable(&self, info: &Arc<DebugInfo>, pc: Option<Svma>) -> Result<Variable> {
        let line = self.entries().find_map(|entry| entry.number(constants::DW_AT_decl_line));
        let ty = self.entries().find_map(|entry| match entry.type_link() {
            TypeLink::Die(id) => Some(id),
            _ => None,
        });
        let is_result = self.is_result();
        let is_parameter = self.own.tag() == constants::DW_TAG_formal_parameter;
        let mut location = None;
        let mut is_tracked = false;
        for entry in self.entries() {
            location = match location {
                None if entry.has_location_list() => {
                    is_tracked = true;
                    location::of(info, entry, pc)?
                }
                None => location::of(info, entry, pc)?,
                found => found,
            };
        }
        Ok(Variable {
            id: self.own.id(),
            name: self.entries().find_map(DieEntry::name),
            ty,
            kind: match is_parameter && !is_result {
                true => VariableKind::Argument,
                false => VariableKind::Local,
            },
            location: location.unwrap_or(VariableLocation::OptimizedOut),
            line: line.and_then(|line| u32::try_from(line).ok()),
            is_tracked,
            is_result,
            is_artificial: self.entries().any(|entry| entry.flag(constants::DW_AT_artificial)),
            is_external: self.entries().any(|entry| entry.flag(constants::DW_AT_external)),
        })
    }
}

impl Chain<'_> {
    /// Whether it is a result of a function of Go, which describes results as parameters
    /// (`cmd/internal/dwarf/dwarf.go` of Go 1.27, `IsReturnValue`). In other languages the attribute says that what is
    /// passed is a reference.
    fn is_result(&self) -> bool {
        self.own.language() == Some(Language::Go)
            && self.entries().any(|entry| entry.flag(constants::DW_AT_variable_parameter))
    }
}

/// What an entry is an instance of, or the definition of.
fn origin<'a>(entry: &DieEntry<'a>) -> Option<(&'a DebugInfo, DieId)> {
    let id = entry.reference(constants::DW_AT_abstract_origin);
    let id = id.or_else(|| entry.reference(constants::DW_AT_specification))?;
    Some((entry.info(), id))
}
