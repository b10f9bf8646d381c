//! Members of composite types (DWARF 5, 5.7.6), bit-fields of all versions.

use gimli::{AttributeValue, constants};

use super::{
    super::model::{BitField, Member, MemberPlace},
    entry::DieEntry,
};

/// Whether a member is one for all objects, as DWARF 2 to 4 write it.
pub fn is_static(entry: &DieEntry<'_>) -> bool {
    entry.flag(constants::DW_AT_external) || entry.flag(constants::DW_AT_declaration)
}

/// Reads a member.
pub fn read(entry: &DieEntry<'_>) -> Member {
    Member {
        name: entry.name(),
        ty: entry.type_link(),
        place: bit_field(entry)
            .map(MemberPlace::Bits)
            .or_else(|| place(entry))
            .unwrap_or(MemberPlace::Offset(0)),
        is_artificial: entry.flag(constants::DW_AT_artificial),
    }
}

/// Where a member or a base class lies.
pub fn place(entry: &DieEntry<'_>) -> Option<MemberPlace> {
    let location = constants::DW_AT_data_member_location;
    match entry.value(location)? {
        AttributeValue::Exprloc(_) | AttributeValue::Block(_) => {
            entry.expression(location).map(MemberPlace::Expression)
        }
        _ => entry.number(location).map(MemberPlace::Offset),
    }
}

/// `DW_AT_data_bit_offset` counts bits from the beginning of the object; `DW_AT_bit_offset` of DWARF 2
/// and 3 from the most significant bit of a storage unit.
fn bit_field(entry: &DieEntry<'_>) -> Option<BitField> {
    let size = entry.number(constants::DW_AT_bit_size)?;
    if let Some(offset) = entry.number(constants::DW_AT_data_bit_offset) {
        return Some(BitField { offset, size });
    }
    let byte = match place(entry) {
        Some(MemberPlace::Offset(byte)) => byte,
        _ => 0,
    };
    let unit = entry.number(constants::DW_AT_byte_size).unwrap_or(4).checked_mul(8)?;
    let from_top = entry.constant(constants::DW_AT_bit_offset).unwrap_or(0);
    let low = i128::from(unit).checked_sub(from_top)?.checked_sub(size.into())?;
    let offset = i128::from(byte.checked_mul(8)?).checked_add(low)?;
    Some(BitField { offset: u64::try_from(offset).ok()?, size })
}
