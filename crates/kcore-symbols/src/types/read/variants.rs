//! Variant parts (DWARF 5, 5.7.10): the data of enumerations of Rust.

use gimli::{AttributeValue, DwDsc, Reader as _, constants};

use super::{
    super::model::{Member, Variant, VariantPart},
    entry::DieEntry,
    members,
};
use crate::dwarf::Result;

/// Values and ranges of values of one variant that are read.
const MAX_VALUES: usize = 1 << 12;

/// Reads a variant part.
pub fn read(entry: &DieEntry<'_>) -> Result<VariantPart> {
    let discriminant = entry.reference(constants::DW_AT_discr);
    let mut part = VariantPart { discriminant: None, variants: Vec::new() };
    // Without a member that decides, the part itself has the type of the values.
    let mut size = entry.size_of_type();
    entry.children(|child| {
        match child.tag() {
            constants::DW_TAG_member if Some(child.id()) == discriminant => {
                size = child.size_of_type();
                part.discriminant = Some(members::read(&child));
            }
            constants::DW_TAG_variant => part.variants.push(variant(&child, size)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(part)
}

/// A variant of a discriminant of `size` bytes.
fn variant(entry: &DieEntry<'_>, size: Option<u64>) -> Result<Variant> {
    let mut members: Vec<Member> = Vec::new();
    entry.children(|child| {
        if child.tag() == constants::DW_TAG_member {
            members.push(members::read(&child));
        }
        Ok(())
    })?;
    Ok(Variant { values: values(entry, size), members })
}

fn values(entry: &DieEntry<'_>, size: Option<u64>) -> Vec<(u128, u128)> {
    let unsigned = |value: i128| value.cast_unsigned() & mask(size);
    if let Some(value) = entry.constant(constants::DW_AT_discr_value) {
        let value = unsigned(value);
        return vec![(value, value)];
    }
    match entry.value(constants::DW_AT_discr_list) {
        Some(AttributeValue::Block(list) | AttributeValue::Exprloc(gimli::Expression(list))) => {
            let mut list = list;
            let item = |list: &mut _| discriminants(list, size);
            (0..MAX_VALUES).map_while(|_| item(&mut list)).collect()
        }
        _ => Vec::new(),
    }
}

/// The next item of a `DW_AT_discr_list`. Whether its numbers have a sign depends on a type that
/// producers of such lists leave without one.
fn discriminants(list: &mut crate::dwarf::Reader, size: Option<u64>) -> Option<(u128, u128)> {
    let number =
        |list: &mut crate::dwarf::Reader| Some(u128::from(list.read_uleb128().ok()?) & mask(size));
    match DwDsc(list.read_u8().ok()?) {
        constants::DW_DSC_label => number(list).map(|value| (value, value)),
        constants::DW_DSC_range => Some((number(list)?, number(list)?)),
        _ => None,
    }
}

/// The bits that a number of so many bytes has.
fn mask(size: Option<u64>) -> u128 {
    let bits = size.and_then(|size| u32::try_from(size.checked_mul(8)?).ok());
    let above = bits.and_then(|bits| 128_u32.checked_sub(bits)).unwrap_or(0);
    u128::MAX.checked_shr(above).unwrap_or(u128::MAX)
}
