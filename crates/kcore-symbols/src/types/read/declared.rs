//! Where parts of a type are declared.

use std::sync::Arc;

use gimli::constants;

use super::entry::DieEntry;
use crate::{DebugInfo, DieId, TypeError, dwarf::Result};

/// A line of source in which something is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredAt {
    /// Path of the source file as DWARF states it.
    pub file: Option<Arc<str>>,
    /// Line, from 1.
    pub line: u32,
}

impl DebugInfo {
    /// Where the first member of each variant of the type at `id` is declared, in the order of
    /// [`VariantPart::variants`](crate::VariantPart::variants). For a future that `rustc` makes of an `async`
    /// function these are the lines in which it waits (`rustc_codegen_llvm`, `debuginfo/metadata/enums/native.rs`).
    ///
    /// # Errors
    /// When the type cannot be read.
    pub fn variant_lines(
        &self,
        id: DieId,
    ) -> std::result::Result<Vec<Option<DeclaredAt>>, TypeError> {
        variant_lines(self, id).map_err(|error| TypeError::reading(id, error))
    }
}

fn variant_lines(info: &DebugInfo, id: DieId) -> Result<Vec<Option<DeclaredAt>>> {
    let mut lines = Vec::new();
    DieEntry::read(info, id)?.children(|part| {
        if part.tag() != constants::DW_TAG_variant_part {
            return Ok(());
        }
        part.children(|variant| {
            if variant.tag() == constants::DW_TAG_variant {
                lines.push(line_of_member(&variant)?);
            }
            Ok(())
        })
    })?;
    Ok(lines)
}

fn line_of_member(variant: &DieEntry<'_>) -> Result<Option<DeclaredAt>> {
    let mut found = None;
    variant.children(|member| {
        if found.is_none() && member.tag() == constants::DW_TAG_member {
            found = declared_at(&member)?;
        }
        Ok(())
    })?;
    Ok(found)
}

fn declared_at(entry: &DieEntry<'_>) -> Result<Option<DeclaredAt>> {
    let line = entry.number(constants::DW_AT_decl_line).and_then(|line| u32::try_from(line).ok());
    let Some(line) = line.filter(|line| *line > 0) else { return Ok(None) };
    let number = entry.number(constants::DW_AT_decl_file);
    let units = entry.info().files().units(entry.id().which);
    let file = match number.zip(units) {
        Some((number, units)) => entry.unit().path(&units.file, number)?,
        None => None,
    };
    Ok(Some(DeclaredAt { file, line }))
}
