//! Arrays and vectors (DWARF 5, 5.5 and 5.13).

use gimli::{AttributeValue, DwTag, constants};

use super::{
    super::model::{
        ArrayBound, ArrayLayout, ArrayPresence, ArrayType, BaseType, Dimension, Encoding, TypeKind,
        TypeNode,
    },
    entry::DieEntry,
};
use crate::{Language, Type, dwarf::Result};

/// Reads an array.
pub fn read(entry: &DieEntry<'_>) -> Result<TypeKind> {
    let (mut dimensions, mut ranges) = (Vec::new(), Vec::new());
    entry.children(|child| {
        if is_range(child.tag()) {
            dimensions.push(dimension(&child));
            ranges.push(range(&child));
        }
        Ok(())
    })?;
    Ok(TypeKind::Array(ArrayType {
        element: entry.type_link(),
        dimensions,
        stride: entry.number(constants::DW_AT_byte_stride),
        is_vector: entry.flag(constants::DW_AT_GNU_vector),
        layout: layout(entry, ranges).map(Box::new),
    }))
}

/// Whether an entry is a dimension, or stands for each one of an array of assumed rank.
const fn is_range(tag: DwTag) -> bool {
    matches!(tag, constants::DW_TAG_subrange_type | constants::DW_TAG_generic_subrange)
}

/// How an array of Fortran lies, and one that describes itself; `None` of any other.
fn layout(
    entry: &DieEntry<'_>,
    ranges: Vec<(ArrayBound, Option<ArrayBound>)>,
) -> Option<ArrayLayout> {
    let elements = entry.expression(constants::DW_AT_data_location);
    let is_column_major = matches!(
        entry.value(constants::DW_AT_ordering),
        Some(AttributeValue::Ordering(constants::DW_ORD_col_major))
    );
    if entry.language() != Some(Language::Fortran) && elements.is_none() && !is_column_major {
        return None;
    }
    let allocated = entry.expression(constants::DW_AT_allocated).map(ArrayPresence::Allocated);
    let associated = entry.expression(constants::DW_AT_associated).map(ArrayPresence::Associated);
    let (first, strides) = ranges.into_iter().unzip();
    Some(ArrayLayout {
        first,
        strides,
        is_column_major,
        elements,
        presence: allocated.or(associated),
        rank: bound(entry, constants::DW_AT_rank),
    })
}

/// The first index of a dimension, and how far its elements lie apart.
fn range(entry: &DieEntry<'_>) -> (ArrayBound, Option<ArrayBound>) {
    let usual = || {
        let usual = usual_lower_bound(entry.language());
        ArrayBound::Number(i64::try_from(usual).unwrap_or(0))
    };
    let first = bound(entry, constants::DW_AT_lower_bound).unwrap_or_else(usual);
    (first, bound(entry, constants::DW_AT_byte_stride))
}

fn bound(entry: &DieEntry<'_>, name: gimli::DwAt) -> Option<ArrayBound> {
    match entry.value(name)? {
        AttributeValue::Exprloc(_) | AttributeValue::Block(_) => {
            entry.expression(name).map(ArrayBound::Expression)
        }
        _ => entry
            .reference(name)
            .map(ArrayBound::Variable)
            .or_else(|| Some(ArrayBound::Number(i64::try_from(entry.constant(name)?).ok()?))),
    }
}

/// Reads characters of Fortran, whose number the entry states, or a variable or an expression gives.
pub fn read_characters(entry: &DieEntry<'_>) -> TypeKind {
    let base = BaseType { encoding: Encoding::SignedChar, bits: None, swapped: false };
    let character = Type::made(TypeNode {
        id: None,
        name: Some("character".into()),
        size: Some(1),
        is_declaration: false,
        kind: TypeKind::Base(base),
    });
    let length = constants::DW_AT_string_length;
    let size = entry.number(constants::DW_AT_byte_size);
    // The last index of an array whose first is 1 is how many elements it has.
    let length = match entry.value(length) {
        Some(AttributeValue::Exprloc(_) | AttributeValue::Block(_)) => stored_length(entry),
        Some(_) => entry.reference(length).map(Dimension::UpperBoundIn),
        // gfortran 12 writes 0 of a component whose length stands in another one.
        None => size.filter(|size| *size > 0).map(Dimension::Count),
    };
    let layout = ArrayLayout {
        first: vec![ArrayBound::Number(1)],
        strides: vec![None],
        is_column_major: false,
        elements: None,
        presence: None,
        rank: None,
    };
    TypeKind::Array(ArrayType {
        element: character.link(),
        dimensions: vec![length.unwrap_or(Dimension::Open)],
        stride: None,
        is_vector: false,
        layout: Some(Box::new(layout)),
    })
}

fn dimension(entry: &DieEntry<'_>) -> Dimension {
    if let Some(count) = entry.number(constants::DW_AT_count) {
        return Dimension::Count(count);
    }
    let upper = constants::DW_AT_upper_bound;
    match entry.value(upper) {
        None => Dimension::Open,
        Some(AttributeValue::Exprloc(_) | AttributeValue::Block(_)) => {
            entry.expression(upper).map_or(Dimension::Open, Dimension::UpperBound)
        }
        Some(_) => match (entry.reference(upper), entry.constant(upper)) {
            (Some(variable), _) => Dimension::UpperBoundIn(variable),
            (None, Some(bound)) => counted(bound, entry),
            (None, None) => Dimension::Open,
        },
    }
}

/// The number of elements up to an upper bound: -1 is that of an array without elements.
fn counted(bound: i128, entry: &DieEntry<'_>) -> Dimension {
    let lower = entry.constant(constants::DW_AT_lower_bound);
    let lower = lower.unwrap_or_else(|| usual_lower_bound(entry.language()));
    let count = bound.checked_sub(lower).and_then(|last| last.checked_add(1));
    Dimension::Count(count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0))
}

/// Where arrays begin if nothing is said (DWARF 5, table 7.17).
const fn usual_lower_bound(language: Option<Language>) -> i128 {
    match language {
        Some(Language::Fortran | Language::Ada) => 1,
        _ => 0,
    }
}

/// The length that lies where an expression says. Until DWARF 5 its size was that of the string itself.
fn stored_length(entry: &DieEntry<'_>) -> Option<Dimension> {
    let place = entry.expression(constants::DW_AT_string_length)?;
    let size = entry
        .number(constants::DW_AT_string_length_byte_size)
        .or_else(|| entry.number(constants::DW_AT_byte_size))
        .unwrap_or_else(|| entry.address_size());
    let read = [constants::DW_OP_deref_size.0, u8::try_from(size).ok()?];
    Some(Dimension::UpperBound(place.iter().copied().chain(read).collect()))
}
