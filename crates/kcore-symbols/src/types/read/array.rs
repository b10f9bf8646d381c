//! Arrays and vectors (DWARF 5, 5.5 and 5.13).

use gimli::{AttributeValue, constants};

use super::{
    super::model::{ArrayType, Dimension, TypeKind},
    entry::DieEntry,
};
use crate::{Language, dwarf::Result};

/// Reads an array.
pub fn read(entry: &DieEntry<'_>) -> Result<TypeKind> {
    let mut dimensions = Vec::new();
    entry.children(|child| {
        if child.tag() == constants::DW_TAG_subrange_type {
            dimensions.push(dimension(&child));
        }
        Ok(())
    })?;
    Ok(TypeKind::Array(ArrayType {
        element: entry.type_link(),
        dimensions,
        stride: entry.number(constants::DW_AT_byte_stride),
        is_vector: entry.flag(constants::DW_AT_GNU_vector),
    }))
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
