//! Elements and sections of arrays of Fortran by a subscript for each dimension: `a(2,3)`, `a(1:3,2)`, `a(:,::2)`.

use kcore_symbols::TypeKind;

use super::{
    Object, ObjectError,
    array_layout::{self, Extent},
};
use crate::{PathError, Process};

/// What is chosen of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscript {
    /// One element.
    Index(i64),
    /// Elements from the first index to the last one, both included: those that the array has where one is left out.
    Section {
        /// The first index.
        first: Option<i64>,
        /// The last index that may count.
        last: Option<i64>,
        /// From one index to the next; it may be negative.
        step: i64,
    },
}

/// The element or the section that subscripts choose. A section has indices from 1.
///
/// # Errors
/// When there are more or fewer subscripts than dimensions, or one is outside of the bounds, or the array cannot be
/// looked up.
pub fn chosen(
    process: &dyn Process,
    object: &Object,
    subscripts: &[Subscript],
) -> Result<Object, PathError> {
    let ty = object.complete_type(process)?;
    let TypeKind::Array(array) = ty.kind() else {
        return Err(ObjectError::NotIndexable(object.ty.spelled()).into());
    };
    let rank = match object.address() {
        Some(at) => array_layout::rank(process, array, at)?,
        None => array.dimensions.len(),
    };
    if rank != subscripts.len() {
        let count = subscripts.len();
        let why = format!("{count} subscripts for an array of rank {rank}");
        return Err(PathError::Word(why));
    }
    taken(process, &array_layout::looked_up(process, object)?, subscripts)
}

fn taken(
    process: &dyn Process,
    object: &Object,
    subscripts: &[Subscript],
) -> Result<Object, PathError> {
    let Some((subscript, rest)) = subscripts.split_first() else { return Ok(object.clone()) };
    let (first, last, step) = match *subscript {
        Subscript::Index(index) => {
            let element = array_layout::declared_element(process, object, index)?;
            return taken(process, &element, rest);
        }
        Subscript::Section { first, last, step } => (first, last, step),
    };
    let unknown = || PathError::Word("the bounds of the section are not known".to_owned());
    let (lower, count) = array_layout::bounds(object).ok_or_else(unknown)?;
    let upper = count.and_then(|count| lower.checked_add(count)?.checked_sub(1));
    let (from, to) = if step < 0 { (upper, Some(lower)) } else { (Some(lower), upper) };
    let (from, to) = (first.or(from).ok_or_else(unknown)?, last.or(to).ok_or_else(unknown)?);
    let count = selected(from, to, step).ok_or_else(unknown)?;
    // One without elements has no place of its own.
    let Some(steps) = count.checked_sub(1) else {
        let element = object.index(process, 0)?;
        return Ok(Object::at(
            Extent { first: 1, count: Some(0), stride: 0 }.of(&element.ty),
            lies(object)?,
        ));
    };
    let last =
        i64::try_from(steps).ok().and_then(|steps| from.checked_add(steps.checked_mul(step)?));
    array_layout::declared_element(process, object, last.ok_or_else(unknown)?)?;
    let element = array_layout::declared_element(process, object, from)?;
    let inner = taken(process, &element, rest)?;
    let stride = stride(process, object)?.checked_mul(step).ok_or_else(unknown)?;
    let section = Extent { first: 1, count: Some(count), stride };
    Ok(Object { ty: section.of(&inner.ty), place: inner.place })
}

fn lies(object: &Object) -> Result<kcore_mem::Addr, PathError> {
    object.address().ok_or_else(|| PathError::Object(crate::Absent::OptimizedOut.into()))
}

/// How many indices a section has.
fn selected(from: i64, to: i64, step: i64) -> Option<u64> {
    let steps = to.checked_sub(from)?.checked_add(step)?.checked_div(step)?;
    Some(u64::try_from(steps).unwrap_or(0))
}

/// Bytes from one element of an array that was looked up to the next.
fn stride(process: &dyn Process, object: &Object) -> Result<i64, PathError> {
    let ty = object.complete_type(process)?;
    let stated = match ty.kind() {
        TypeKind::Array(array) => array.stride.map(u64::cast_signed),
        _ => None,
    };
    let size = || -> Result<Option<i64>, ObjectError> {
        let element = object.index(process, 0)?.complete_type(process)?;
        Ok(element.size().and_then(|size| i64::try_from(size).ok()))
    };
    let stride = match stated {
        Some(stride) => Some(stride),
        None => size()?,
    };
    stride.ok_or_else(|| PathError::Word("the size of an element is not known".to_owned()))
}
