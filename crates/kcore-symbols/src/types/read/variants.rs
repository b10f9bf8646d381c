//! Variant parts (DWARF 5, 5.7.10): the data of enumerations of Rust.

use gimli::constants;

use super::{
    super::model::{Member, Variant, VariantPart},
    entry::DieEntry,
    members,
};
use crate::dwarf::Result;

/// Reads a variant part.
pub fn read(entry: &DieEntry<'_>) -> Result<VariantPart> {
    let discriminant = entry.reference(constants::DW_AT_discr);
    let mut part = VariantPart { discriminant: None, variants: Vec::new() };
    entry.children(|child| {
        match child.tag() {
            constants::DW_TAG_member if Some(child.id()) == discriminant => {
                part.discriminant = Some(members::read(&child));
            }
            constants::DW_TAG_variant => part.variants.push(variant(&child)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(part)
}

fn variant(entry: &DieEntry<'_>) -> Result<Variant> {
    let value = entry.number(constants::DW_AT_discr_value).map(u128::from);
    let mut members: Vec<Member> = Vec::new();
    entry.children(|child| {
        if child.tag() == constants::DW_TAG_member {
            members.push(members::read(&child));
        }
        Ok(())
    })?;
    Ok(Variant { values: value.into_iter().map(|value| (value, value)).collect(), members })
}
