//! Arrays that lie otherwise than those of C: with bounds of their own, the first index changing fastest, or as a
//! description in memory that says where the elements are (DWARF 5, 5.5 and 5.18). Arrays of Fortran are these.

use kcore_mem::Addr;
use kcore_symbols::{
    ArrayBound, ArrayLayout, ArrayPresence, ArrayType, Dimension, Type, TypeKind, TypeNode,
};

use super::{Object, ObjectError, virtual_place};
use crate::{Absent, PathError, Process};

/// Elements in one dimension, at most: a description that was not filled in yet may say anything.
const MAX_COUNT: i64 = 1 << 40;

/// Dimensions, at most: Fortran has 15.
const MAX_DIMENSIONS: usize = 15;

/// An array whose layout was looked up.
pub enum ArrayState {
    /// It, as arrays of arrays of one dimension each, the first index outermost.
    There(Object),
    /// It has no elements, for this reason.
    Missing(&'static str),
}

/// Whether an array must be looked up before its elements are found by counting.
pub fn is_described(array: &ArrayType) -> bool {
    array.layout.as_ref().is_some_and(|layout| {
        let is_number = |bound: &ArrayBound| matches!(bound, ArrayBound::Number(_));
        layout.elements.is_some()
            || layout.presence.is_some()
            || !layout.first.iter().all(is_number)
            || layout.strides.iter().any(Option::is_some)
            || array.dimensions.len() > 1
    })
}

/// The array at an object whose type behind aliases is `ty`.
///
/// # Errors
/// When its bounds cannot be read, or make no sense.
pub fn laid_out(
    process: &dyn Process,
    object: &Object,
    ty: &Type,
    array: &ArrayType,
) -> Result<ArrayState, ObjectError> {
    let Some(layout) = &array.layout else { return Ok(ArrayState::There(object.clone())) };
    let at = object.address().ok_or(Absent::OptimizedOut)?;
    if let Some(missing) = missing(process, layout, at)? {
        return Ok(ArrayState::Missing(missing));
    }
    let element = ty.follow(&array.element)?;
    let dimensions = dimensions(process, (array, layout), &element, at)?;
    let elements = match &layout.elements {
        Some(code) => virtual_place::evaluate(process, code, at)?,
        None => at,
    };
    let nested = dimensions.iter().rev().fold(element, |element, it| it.of(&element));
    Ok(ArrayState::There(Object::at(nested, elements)))
}

/// The element of a declared index.
///
/// # Errors
/// When the array has no such index, or cannot be looked up.
pub fn declared_element(
    process: &dyn Process,
    object: &Object,
    index: i64,
) -> Result<Object, PathError> {
    let ty = object.complete_type(process)?;
    let TypeKind::Array(array) = ty.kind() else {
        return Err(ObjectError::NotIndexable(object.ty.spelled()).into());
    };
    let object = match is_described(array) {
        false => object.clone(),
        true => match laid_out(process, object, &ty, array)? {
            ArrayState::There(object) => object,
            ArrayState::Missing(why) => return Err(PathError::Word(why.to_owned())),
        },
    };
    let (first, count) = bounds(&object).unwrap_or((0, None));
    let offset = index.checked_sub(first).filter(|offset| *offset >= 0);
    let offset = offset.filter(|offset| count.is_none_or(|count| *offset < count));
    let last = count.and_then(|count| first.checked_add(count)?.checked_sub(1));
    let outside = || match last {
        Some(last) => {
            PathError::Word(format!("index {index} is outside of the bounds {first}:{last}"))
        }
        None => PathError::Word(format!("index {index} is before the first one, {first}")),
    };
    Ok(object.index(process, offset.ok_or_else(outside)?)?)
}

/// The element of an index of any array or pointer, a declared one where the array has bounds of its own.
///
/// # Errors
/// As [`Object::index`].
pub fn any_element(
    process: &dyn Process,
    object: &Object,
    index: i64,
) -> Result<Object, ObjectError> {
    let ty = object.complete_type(process)?;
    let TypeKind::Array(array) = ty.kind() else { return object.index(process, index) };
    if array.layout.is_none() {
        return object.index(process, index);
    }
    declared_element(process, object, index).map_err(|why| match why {
        PathError::Object(why) => why,
        other => Absent::Unreadable(other.to_string()).into(),
    })
}

/// The first index of an array that was looked up, and how many there are.
fn bounds(object: &Object) -> Option<(i64, Option<i64>)> {
    let ty = object.ty.stripped().ok()?;
    let TypeKind::Array(array) = ty.kind() else { return None };
    let first = match array.layout.as_ref()?.first.first()? {
        ArrayBound::Number(first) => *first,
        ArrayBound::Expression(_) => return None,
    };
    let count = match array.dimensions.first()? {
        Dimension::Count(count) => i64::try_from(*count).ok(),
        _ => None,
    };
    Some((first, count))
}

fn missing(
    process: &dyn Process,
    layout: &ArrayLayout,
    at: Addr,
) -> Result<Option<&'static str>, ObjectError> {
    let (code, why) = match &layout.presence {
        Some(ArrayPresence::Allocated(code)) => (code, "not allocated"),
        Some(ArrayPresence::Associated(code)) => (code, "not associated"),
        None => return Ok(None),
    };
    let is_there = virtual_place::evaluate(process, code, at)?.get() != 0;
    Ok((!is_there).then_some(why))
}

/// One dimension.
struct Extent {
    first: i64,
    count: u64,
    /// Bytes from one element to the next, before it where the number is negative.
    stride: i64,
}

impl Extent {
    /// The array of so many of these elements.
    fn of(&self, element: &Type) -> Type {
        let layout = ArrayLayout {
            first: vec![ArrayBound::Number(self.first)],
            strides: vec![None],
            is_column_major: false,
            elements: None,
            presence: None,
        };
        let array = ArrayType {
            element: element.link(),
            dimensions: vec![Dimension::Count(self.count)],
            stride: Some(self.stride.cast_unsigned()),
            is_vector: false,
            layout: Some(Box::new(layout)),
        };
        Type::made(TypeNode {
            id: None,
            name: None,
            size: None,
            is_declaration: false,
            kind: TypeKind::Array(array),
        })
    }
}

/// The dimensions in the order in which they are declared.
fn dimensions(
    process: &dyn Process,
    (array, layout): (&ArrayType, &ArrayLayout),
    element: &Type,
    at: Addr,
) -> Result<Vec<Extent>, ObjectError> {
    let unknown = || Absent::Unreadable("its bounds are not known".to_owned());
    if array.dimensions.is_empty() || array.dimensions.len() > MAX_DIMENSIONS {
        return Err(unknown().into());
    }
    let size = super::complete(element, process)?.size();
    let size = size.and_then(|size| i64::try_from(size).ok()).ok_or_else(unknown)?;
    let mut extents = Vec::new();
    for (index, dimension) in array.dimensions.iter().enumerate() {
        let first = match layout.first.get(index) {
            Some(first) => number(process, first, at)?,
            None => return Err(unknown().into()),
        };
        let count = match dimension {
            Dimension::Count(count) => i64::try_from(*count).ok(),
            Dimension::UpperBound(code) => {
                let last = virtual_place::evaluate(process, code, at)?.get().cast_signed();
                last.checked_sub(first).and_then(|steps| steps.checked_add(1))
            }
            _ => None,
        };
        let count = count.filter(|count| *count <= MAX_COUNT).ok_or_else(unknown)?.max(0);
        let stride = match layout.strides.get(index).and_then(Option::as_ref) {
            Some(stride) => Some(number(process, stride, at)?),
            None => None,
        };
        extents.push((first, count, stride));
    }
    placed(extents, size, layout.is_column_major).ok_or_else(|| unknown().into())
}

/// The dimensions with their strides: where none is stated, the elements of the fastest one lie side by side.
fn placed(
    extents: Vec<(i64, i64, Option<i64>)>,
    size: i64,
    is_column_major: bool,
) -> Option<Vec<Extent>> {
    let mut placed = Vec::new();
    let mut side_by_side = size;
    let mut place = |(first, count, stride): (i64, i64, Option<i64>)| {
        let stride = stride.unwrap_or(side_by_side);
        side_by_side = stride.checked_mul(count)?;
        placed.push(Extent { first, count: u64::try_from(count).ok()?, stride });
        Some(())
    };
    match is_column_major {
        true => extents.into_iter().try_for_each(&mut place)?,
        false => extents.into_iter().rev().try_for_each(&mut place)?,
    }
    if !is_column_major {
        placed.reverse();
    }
    Some(placed)
}

fn number(process: &dyn Process, bound: &ArrayBound, at: Addr) -> Result<i64, ObjectError> {
    match bound {
        ArrayBound::Number(number) => Ok(*number),
        ArrayBound::Expression(code) => {
            Ok(virtual_place::evaluate(process, code, at)?.get().cast_signed())
        }
    }
}

#[cfg(test)]
mod tests;
