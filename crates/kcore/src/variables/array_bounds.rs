//! Arrays whose length only a frame tells: those of variable length of C.

use std::sync::Arc;

use kcore_symbols::{
    ArrayBound, ArrayType, DebugInfo, Dimension, Expression, Type, TypeKind, TypeNode,
};
use kcore_values::location::{self, FrameContext as _};

use super::context::FrameView;

/// Elements that one dimension has, at most: a length that was not set yet may be anything.
const MAX_COUNT: u64 = 1 << 40;

/// Arrays of arrays of entries of their own, which compilers do not write, and circles of them.
const MAX_NESTED: usize = 8;

/// The type with the length that it has in a frame; itself if it has the same everywhere.
pub fn known(info: &Arc<DebugInfo>, ty: &Type, view: &FrameView<'_>) -> Type {
    known_within(info, ty, view, MAX_NESTED)
}

fn known_within(info: &Arc<DebugInfo>, ty: &Type, view: &FrameView<'_>, nested: usize) -> Type {
    let TypeKind::Array(array) = ty.kind() else { return ty.clone() };
    if array.dimensions.iter().all(is_fixed) {
        return ty.clone();
    }
    let count = |dimension: &Dimension| upper_bound(info, ty, dimension, view);
    let first = |index: usize| match array.layout.as_ref().and_then(|it| it.first.get(index)) {
        Some(ArrayBound::Number(first)) => Some(first.cast_unsigned()),
        Some(ArrayBound::Expression(_)) => None,
        None => Some(0),
    };
    let dimensions = array.dimensions.iter().enumerate().map(|(index, dimension)| {
        let counted = match dimension {
            Dimension::Count(_) => None,
            dimension => count(dimension).zip(first(index)),
        };
        match counted {
            Some((last, first)) => Dimension::Count(counted_to(last, first)),
            None => dimension.clone(),
        }
    });
    let dimensions = dimensions.collect();
    let Ok(element) = ty.follow(&array.element) else { return ty.clone() };
    let element = match nested.checked_sub(1) {
        Some(nested) => known_within(info, &element, view, nested).link(),
        None => element.link(),
    };
    let kind = TypeKind::Array(ArrayType { element, dimensions, ..array.clone() });
    Type::made(TypeNode { id: None, kind, ..ty.node().clone() })
}

/// How many indices there are from the first to the last one. One without elements ends before it begins.
fn counted_to(last: u64, first: u64) -> u64 {
    let count = last.wrapping_sub(first).wrapping_add(1).cast_signed();
    u64::try_from(count).unwrap_or(0)
}

const fn is_fixed(dimension: &Dimension) -> bool {
    matches!(dimension, Dimension::Count(_) | Dimension::Open)
}

/// The last index in a dimension.
fn upper_bound(
    info: &Arc<DebugInfo>,
    ty: &Type,
    dimension: &Dimension,
    view: &FrameView<'_>,
) -> Option<u64> {
    let last = match dimension {
        Dimension::Count(count) => return count.checked_sub(1),
        Dimension::Open => None,
        Dimension::UpperBound(bytes) => {
            let expression = Expression::beside_entry(info, ty.id()?, Arc::clone(bytes))?;
            location::number_of(&expression, view).ok()
        }
        Dimension::UpperBoundIn(id) => {
            let variable = info.variable_at(*id, view.pc()).ok()?;
            let ty = info.type_of(&variable).ok()?;
            let place = location::place_of(&variable.location, &ty, view).ok()?;
            let bytes = place.read(view.frames.core, ty.size()?).ok()?;
            Some(view.frames.core.target().uint(&bytes))
        }
    };
    // An array without elements has -1 as its last index.
    last.filter(|last| last.wrapping_add(1) <= MAX_COUNT)
}
