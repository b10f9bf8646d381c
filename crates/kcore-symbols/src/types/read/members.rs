//! Members of composite types (DWARF 5, 5.7.6), bit-fields of all versions.

use gimli::{AttributeValue, EndianSlice, LittleEndian, Reader as _, constants};

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
            let expression = entry.expression(location)?;
            let offset = constant_offset(&expression);
            Some(offset.map_or(MemberPlace::Expression(expression), MemberPlace::Offset))
        }
        _ => entry.number(location).map(MemberPlace::Offset),
    }
}

/// The offset in an expression that only adds one: DWARF 2 has nothing simpler.
fn constant_offset(expression: &[u8]) -> Option<u64> {
    let (operation, rest) = expression.split_first()?;
    if gimli::DwOp(*operation) != constants::DW_OP_plus_uconst {
        return None;
    }
    let mut rest = EndianSlice::new(rest, LittleEndian);
    let offset = rest.read_uleb128().ok()?;
    rest.is_empty().then_some(offset)
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
    let from_top = entry.constant_with_sign(constants::DW_AT_bit_offset).unwrap_or(0);
    let into_unit = match entry.is_big_endian() {
        true => from_top,
        false => {
            let bytes = entry.number(constants::DW_AT_byte_size).or_else(|| entry.size_of_type());
            let unit = i128::from(bytes.unwrap_or(4).checked_mul(8)?);
            unit.checked_sub(from_top)?.checked_sub(size.into())?
        }
    };
    let offset = i128::from(byte.checked_mul(8)?).checked_add(into_unit)?;
    Some(BitField { offset: u64::try_from(offset).ok()?, size })
}
