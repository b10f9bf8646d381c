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
            || layout.rank.is_some()
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
    looked_at(process, object, (ty, array), true)
}

/// The same; one that is not needed as a whole may have a last dimension without an end, as `a(*)` of Fortran has.
fn looked_at(
    process: &dyn Process,
    object: &Object,
    (ty, array): (&Type, &ArrayType),
    is_whole: bool,
) -> Result<ArrayState, ObjectError> {
    let Some(layout) = &array.layout else { return Ok(ArrayState::There(object.clone())) };
    let at = object.address().ok_or_else(|| object.place.why_absent())?;
    if let Some(missing) = missing(process, layout, at)? {
        return Ok(ArrayState::Missing(missing));
    }
    let element = ty.follow(&array.element)?;
    let dimensions = dimensions(process, (array, layout), &element, at)?;
    if is_whole && dimensions.iter().any(|dimension| dimension.count.is_none()) {
        return Err(unknown_bounds().into());
    }
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
    let object = looked_up(process, object)?;
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

/// An array as arrays of arrays of one dimension each.
///
/// # Errors
/// When it is none, has no elements, or cannot be looked up.
pub fn looked_up(process: &dyn Process, object: &Object) -> Result<Object, PathError> {
    let ty = object.complete_type(process)?;
    let TypeKind::Array(array) = ty.kind() else {
        return Err(ObjectError::NotIndexable(object.ty.spelled()).into());
    };
    if !is_described(array) {
        return Ok(object.clone());
    }
    match looked_at(process, object, (&ty, array), false)? {
        ArrayState::There(object) => Ok(object),
        ArrayState::Missing(why) => Err(PathError::Word(why.to_owned())),
    }
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
pub fn bounds(object: &Object) -> Option<(i64, Option<i64>)> {
    let ty = object.ty.stripped().ok()?;
    let TypeKind::Array(array) = ty.kind() else { return None };
    let first = match array.layout.as_ref()?.first.first()? {
        ArrayBound::Number(first) => *first,
        ArrayBound::Expression(_) | ArrayBound::Variable(_) => return None,
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
pub struct Extent {
    /// The first index.
    pub first: i64,
    /// How many elements there are; `None` where nobody knows.
    pub count: Option<u64>,
    /// Bytes from one element to the next, before it where the number is negative.
    pub stride: i64,
}

impl Extent {
    /// The array of so many of these elements.
    pub fn of(&self, element: &Type) -> Type {
        let layout = ArrayLayout {
            first: vec![ArrayBound::Number(self.first)],
            strides: vec![None],
            is_column_major: false,
            elements: None,
            presence: None,
            rank: None,
        };
        let array = ArrayType {
            element: element.link(),
            dimensions: vec![self.count.map_or(Dimension::Open, Dimension::Count)],
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
    let rank = rank(process, array, at)?;
    let size = super::complete(element, process)?.size();
    let size = size.and_then(|size| i64::try_from(size).ok()).ok_or_else(unknown_bounds)?;
    let mut extents = Vec::new();
    for index in 0..rank {
        // An array of assumed rank states one dimension for all, whose expressions begin with its number.
        let (stated, begin) = match layout.rank {
            Some(_) => (0, index as u64),
            None => (index, at.get()),
        };
        let bounds = Bounds { process, at, begin };
        extents.push(bounds.extent(array, layout, stated)?);
    }
    placed(extents, size, layout.is_column_major).ok_or_else(|| unknown_bounds().into())
}

/// How many dimensions an array has that lies at `at`.
///
/// # Errors
/// When that cannot be read, or there are more than any language has.
pub fn rank(process: &dyn Process, array: &ArrayType, at: Addr) -> Result<usize, ObjectError> {
    let assumed = array.layout.as_ref().and_then(|layout| layout.rank.as_ref());
    let rank = match assumed {
        Some(rank) => {
            let rank = Bounds { process, at, begin: at.get() }.number(rank)?;
            usize::try_from(rank).ok()
        }
        None => Some(array.dimensions.len()).filter(|rank| *rank > 0),
    };
    let rank = rank.filter(|rank| *rank <= MAX_DIMENSIONS);
    rank.ok_or_else(|| unknown_bounds().into())
}

fn unknown_bounds() -> Absent {
    Absent::Unreadable("its bounds are not known".to_owned())
}

/// Expressions of the bounds of an array that lies at `at`, which begin with a number on their stack.
#[derive(Clone, Copy)]
struct Bounds<'a> {
    process: &'a dyn Process,
    at: Addr,
    begin: u64,
}

impl Bounds<'_> {
    /// The first index of a dimension, how many there are, and its stride if that is stated.
    fn extent(
        self,
        array: &ArrayType,
        layout: &ArrayLayout,
        index: usize,
    ) -> Result<(i64, Option<i64>, Option<i64>), ObjectError> {
        let first = self.number(layout.first.get(index).ok_or_else(unknown_bounds)?)?;
        let count = match array.dimensions.get(index) {
            Some(Dimension::Count(count)) => Some(i64::try_from(*count).unwrap_or(i64::MAX)),
            Some(Dimension::UpperBound(code)) => {
                let last = self.evaluated(code)?;
                let count = last.checked_sub(first).and_then(|steps| steps.checked_add(1));
                Some(count.unwrap_or(i64::MAX))
            }
            Some(Dimension::Open) if is_slowest(array, layout, index) => None,
            _ => return Err(unknown_bounds().into()),
        };
        if count.is_some_and(|count| count > MAX_COUNT) {
            return Err(unknown_bounds().into());
        }
        let count = count.map(|count| count.max(0));
        let stride = match layout.strides.get(index).and_then(Option::as_ref) {
            Some(stride) => Some(self.number(stride)?),
            None => None,
        };
        Ok((first, count, stride))
    }

    fn number(self, bound: &ArrayBound) -> Result<i64, ObjectError> {
        match bound {
            ArrayBound::Number(number) => Ok(*number),
            ArrayBound::Expression(code) => self.evaluated(code),
            ArrayBound::Variable(_) => Err(unknown_bounds().into()),
        }
    }

    fn evaluated(self, code: &[u8]) -> Result<i64, ObjectError> {
        let found = virtual_place::evaluate_with(self.process, code, self.at, self.begin)?;
        Ok(found.get().cast_signed())
    }
}

/// Whether a dimension may be without an end: no other one changes slower.
fn is_slowest(array: &ArrayType, layout: &ArrayLayout, index: usize) -> bool {
    layout.is_column_major && index.saturating_add(1) == array.dimensions.len()
}

/// The dimensions with their strides: where none is stated, the elements of the fastest one lie side by side.
fn placed(
    extents: Vec<(i64, Option<i64>, Option<i64>)>,
    size: i64,
    is_column_major: bool,
) -> Option<Vec<Extent>> {
    let mut placed = Vec::new();
    let mut side_by_side = size;
    let mut place = |(first, count, stride): (i64, Option<i64>, Option<i64>)| {
        let stride = stride.unwrap_or(side_by_side);
        side_by_side = stride.checked_mul(count.unwrap_or(0))?;
        let count = match count {
            Some(count) => Some(u64::try_from(count).ok()?),
            None => None,
        };
        placed.push(Extent { first, count, stride });
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

#[cfg(test)]
mod tests;
