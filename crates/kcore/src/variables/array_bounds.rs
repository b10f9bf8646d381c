//! Arrays whose length only a frame tells: those of variable length of C, and characters of Fortran.

use std::sync::Arc;

use kcore_symbols::{
    ArrayBound, ArrayLayout, ArrayType, DebugInfo, DieId, Dimension, Expression, PointerType, Type,
    TypeKind, TypeLink, TypeNode,
};
use kcore_values::location::{self, FrameContext};

use crate::Core;

/// Elements that one dimension has, at most: a length that was not set yet may be anything.
const MAX_COUNT: u64 = 1 << 40;

/// Arrays of arrays of entries of their own, which compilers do not write, and circles of them.
const MAX_NESTED: usize = 8;

/// The debug information, and the frame or the module of it, that tell lengths.
#[derive(Clone, Copy)]
pub struct Teller<'t> {
    pub core: &'t Core,
    pub info: &'t Arc<DebugInfo>,
    pub context: &'t dyn FrameContext,
}

/// The type with the length that it has in a frame; itself if it has the same everywhere.
pub fn known(teller: Teller<'_>, ty: &Type) -> Type {
    known_within(teller, ty, MAX_NESTED)
}

/// The same of characters of Fortran, or of a pointer to them: also those of a module may have a length that a variable
/// holds.
pub fn known_characters(teller: Teller<'_>, ty: &Type) -> Type {
    match ty.kind() {
        TypeKind::Pointer(pointer) => {
            let target = ty.follow(&pointer.to).ok().filter(is_open_characters);
            let Some(target) = target else { return ty.clone() };
            let to = known_within(teller, &target, MAX_NESTED).link();
            let kind = TypeKind::Pointer(PointerType { to, ..pointer.clone() });
            Type::made(TypeNode { id: None, kind, ..ty.node().clone() })
        }
        _ if is_open_characters(ty) => known_within(teller, ty, MAX_NESTED),
        _ => ty.clone(),
    }
}

fn is_open_characters(ty: &Type) -> bool {
    let TypeKind::Array(array) = ty.kind() else { return false };
    let is_text =
        matches!(&array.element, TypeLink::Type(element) if element.name() == Some("character"));
    is_text && !array.dimensions.iter().all(is_fixed)
}

fn known_within(teller: Teller<'_>, ty: &Type, nested: usize) -> Type {
    let TypeKind::Array(array) = ty.kind() else { return known_characters(teller, ty) };
    if array.dimensions.iter().all(is_fixed) {
        return ty.clone();
    }
    let count = |dimension: &Dimension| upper_bound(teller, ty, dimension);
    let layout = array.layout.as_ref().map(|layout| Box::new(with_known_first(teller, layout)));
    let first = |index: usize| match layout.as_ref().and_then(|it| it.first.get(index)) {
        Some(ArrayBound::Number(first)) => Some(first.cast_unsigned()),
        Some(ArrayBound::Expression(_) | ArrayBound::Variable(_)) => None,
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
        Some(nested) => known_within(teller, &element, nested).link(),
        None => element.link(),
    };
    let kind =
        TypeKind::Array(ArrayType { element, dimensions, layout: layout.clone(), ..array.clone() });
    Type::made(TypeNode { id: None, kind, ..ty.node().clone() })
}

/// The layout with numbers in the place of first indices that are variables of the frame.
fn with_known_first(teller: Teller<'_>, layout: &ArrayLayout) -> ArrayLayout {
    let known = |bound: &ArrayBound| match bound {
        ArrayBound::Variable(id) => match held_by(teller, *id) {
            Some(first) => ArrayBound::Number(first.cast_signed()),
            None => bound.clone(),
        },
        bound => bound.clone(),
    };
    ArrayLayout { first: layout.first.iter().map(known).collect(), ..layout.clone() }
}

/// The number that a variable of the frame holds, with its sign.
fn held_by(teller: Teller<'_>, id: DieId) -> Option<u64> {
    let Teller { core, info, context } = teller;
    let variable = info.variable_at(id, context.pc()).ok()?;
    let ty = info.type_of(&variable).ok()?;
    let place = location::place_of(&variable.location, &ty, context).ok()?;
    let bytes = place.read(core, ty.size()?).ok()?;
    let unused = 64_u32.checked_sub(u32::try_from(bytes.len()).ok()?.checked_mul(8)?)?;
    let held = core.target().uint(&bytes).checked_shl(unused)?.cast_signed();
    Some(held.checked_shr(unused)?.cast_unsigned())
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
fn upper_bound(teller: Teller<'_>, ty: &Type, dimension: &Dimension) -> Option<u64> {
    let Teller { info, context, .. } = teller;
    let last = match dimension {
        Dimension::Count(count) => return count.checked_sub(1),
        Dimension::Open => None,
        Dimension::UpperBound(bytes) => {
            let expression = Expression::beside_entry(info, ty.id()?, Arc::clone(bytes))?;
            location::number_of(&expression, context).ok()
        }
        Dimension::UpperBoundIn(id) => held_by(teller, *id),
    };
    // An array without elements has -1 as its last index.
    last.filter(|last| last.cast_signed().unsigned_abs() <= MAX_COUNT)
}
