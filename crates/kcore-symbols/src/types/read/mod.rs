//! Types from entries of DWARF (version 5, chapter 5; version 2 to 4 where they differ).

mod array;
mod composite;
mod declared;
mod entry;
mod enumeration;
mod function;
mod members;
mod methods;
mod scope;
mod template;
mod unit_types;
mod variants;
mod vtables;

pub use declared::DeclaredAt;
pub use entry::DieEntry;
pub use methods::result_of;
pub use scope::{Named, name_of, named, scope_at, scope_of};
pub use vtables::vtable;

use gimli::{AttributeValue, constants};

use super::{
    TypeError,
    model::{
        AliasKind, AliasType, BaseType, Encoding, Keyword, MemberPointerType, PointerKind,
        PointerType, TypeKind, TypeNode,
    },
};
use crate::{DebugInfo, DieId, dwarf};

/// The type that the entry at `id` describes.
pub fn read(info: &DebugInfo, id: DieId) -> Result<TypeNode, TypeError> {
    let found = read_node(info, id).map_err(|error| TypeError::reading(id, error))?;
    found.ok_or(TypeError::NotAType(id))
}

fn read_node(info: &DebugInfo, id: DieId) -> dwarf::Result<Option<TypeNode>> {
    let entry = described(info, DieEntry::read(info, id)?)?;
    let Some(kind) = kind_of(&entry)? else { return Ok(None) };
    Ok(Some(TypeNode {
        id: Some(entry.id()),
        name: scope::own_name(info, &entry)?,
        size: entry
            .number(constants::DW_AT_byte_size)
            .or_else(|| size_in_bits(&entry))
            .or_else(|| size_of_pointer(&entry)),
        is_declaration: entry.flag(constants::DW_AT_declaration),
        kind,
    }))
}

/// The entry that describes the type: one that only has a signature stands for one in a unit of its
/// own.
fn described<'a>(info: &'a DebugInfo, entry: DieEntry<'a>) -> dwarf::Result<DieEntry<'a>> {
    match entry.reference(constants::DW_AT_signature) {
        Some(described) => DieEntry::read(info, described),
        None => Ok(entry),
    }
}

/// What an entry is; `None` of one that is no type.
fn kind_of(entry: &DieEntry<'_>) -> dwarf::Result<Option<TypeKind>> {
    let alias = |kind| TypeKind::Alias(AliasType { kind, to: entry.type_link() });
    let pointer = |kind| TypeKind::Pointer(PointerType { kind, to: entry.type_link() });
    Ok(Some(match entry.tag() {
        constants::DW_TAG_base_type => TypeKind::Base(base(entry)),
        constants::DW_TAG_unspecified_type => TypeKind::Void,
        constants::DW_TAG_pointer_type => pointer(PointerKind::Pointer),
        constants::DW_TAG_reference_type => pointer(PointerKind::Reference),
        constants::DW_TAG_rvalue_reference_type => pointer(PointerKind::RvalueReference),
        constants::DW_TAG_typedef | constants::DW_TAG_template_alias => alias(AliasKind::Typedef),
        constants::DW_TAG_const_type => alias(AliasKind::Const),
        constants::DW_TAG_volatile_type => alias(AliasKind::Volatile),
        constants::DW_TAG_restrict_type => alias(AliasKind::Restrict),
        constants::DW_TAG_atomic_type => alias(AliasKind::Atomic),
        constants::DW_TAG_packed_type
        | constants::DW_TAG_shared_type
        | constants::DW_TAG_immutable_type
        | constants::DW_TAG_subrange_type => alias(AliasKind::Other),
        constants::DW_TAG_structure_type => composite::read(entry, Keyword::Struct)?,
        constants::DW_TAG_class_type | constants::DW_TAG_interface_type => {
            composite::read(entry, Keyword::Class)?
        }
        constants::DW_TAG_union_type => composite::read(entry, Keyword::Union)?,
        constants::DW_TAG_enumeration_type => enumeration::read(entry)?,
        constants::DW_TAG_array_type => array::read(entry)?,
        constants::DW_TAG_subroutine_type | constants::DW_TAG_subprogram => function::read(entry)?,
        constants::DW_TAG_ptr_to_member_type => TypeKind::MemberPointer(MemberPointerType {
            to: entry.type_link(),
            class: entry.link(constants::DW_AT_containing_type),
        }),
        constants::DW_TAG_string_type => array::read_characters(entry),
        constants::DW_TAG_set_type
        | constants::DW_TAG_file_type
        | constants::DW_TAG_dynamic_type => TypeKind::Unknown(entry.tag().0),
        _ => return Ok(None),
    }))
}

fn base(entry: &DieEntry<'_>) -> BaseType {
    let bytes = entry.number(constants::DW_AT_byte_size);
    let bits = entry.number(constants::DW_AT_bit_size);
    BaseType {
        encoding: encoding(entry),
        bits: bits.filter(|bits| bytes.is_some_and(|bytes| bytes.checked_mul(8) != Some(*bits))),
        swapped: is_swapped(entry),
    }
}

/// Whether a type says that its bytes stand in another order than those of the file.
fn is_swapped(entry: &DieEntry<'_>) -> bool {
    let Some(AttributeValue::Endianity(endianity)) = entry.value(constants::DW_AT_endianity) else {
        return false;
    };
    match endianity {
        constants::DW_END_big => !entry.is_big_endian(),
        constants::DW_END_little => entry.is_big_endian(),
        _ => false,
    }
}

fn encoding(entry: &DieEntry<'_>) -> Encoding {
    let number = entry.number(constants::DW_AT_encoding).unwrap_or(0);
    let number = u8::try_from(number).unwrap_or(0);
    match gimli::DwAte(number) {
        constants::DW_ATE_signed => Encoding::Signed,
        constants::DW_ATE_unsigned | constants::DW_ATE_address => Encoding::Unsigned,
        constants::DW_ATE_signed_char => Encoding::SignedChar,
        constants::DW_ATE_unsigned_char => Encoding::UnsignedChar,
        constants::DW_ATE_UTF | constants::DW_ATE_UCS | constants::DW_ATE_ASCII => {
            Encoding::Unicode
        }
        constants::DW_ATE_boolean => Encoding::Bool,
        constants::DW_ATE_float => Encoding::Float,
        constants::DW_ATE_complex_float => Encoding::ComplexFloat,
        _ => Encoding::Other(number),
    }
}

/// The size of a type that states its size in bits alone.
fn size_in_bits(entry: &DieEntry<'_>) -> Option<u64> {
    entry.number(constants::DW_AT_bit_size).map(|bits| bits.div_ceil(8))
}

/// The size of a pointer or a reference, which clang does not state: that of an address.
fn size_of_pointer(entry: &DieEntry<'_>) -> Option<u64> {
    let is_pointer = matches!(
        entry.tag(),
        constants::DW_TAG_pointer_type
            | constants::DW_TAG_reference_type
            | constants::DW_TAG_rvalue_reference_type
    );
    is_pointer.then(|| entry.address_size())
}
