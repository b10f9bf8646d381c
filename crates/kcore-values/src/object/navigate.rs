//! From pointers to what they point to, and from arrays to their elements.

use kcore_mem::Addr;
use kcore_symbols::{ArrayType, Dimension, Type, TypeKind};

use super::{
    Object, ObjectError,
    array_layout::{self, ArrayState},
};
use crate::{Absent, Process};

impl Object {
    /// What it points or refers to.
    ///
    /// # Errors
    /// When it is no pointer, points to `void`, or cannot be read.
    pub fn target(&self, process: &dyn Process) -> Result<Self, ObjectError> {
        let ty = self.complete_type(process)?;
        let TypeKind::Pointer(pointer) = ty.kind() else {
            return Err(ObjectError::NotAPointer(self.ty.spelled()));
        };
        let target = ty.follow(&pointer.to)?;
        if matches!(target.stripped()?.kind(), TypeKind::Void) {
            return Err(ObjectError::Void);
        }
        match self.place.implicit_target() {
            Some(object) => Ok(object.clone()),
            None => Ok(Self::at(target, self.pointer(process)?)),
        }
    }

    /// An element of an array, or the object so many objects behind the one that a pointer points to.
    /// No bound is checked.
    ///
    /// # Errors
    /// When it has no elements, or it cannot be told where they lie.
    pub fn index(&self, process: &dyn Process, index: i64) -> Result<Self, ObjectError> {
        let ty = self.complete_type(process)?;
        match ty.kind() {
            TypeKind::Array(array) if array_layout::is_described(array) => {
                match array_layout::laid_out(process, self, &ty, array)? {
                    ArrayState::There(object) => object.index(process, index),
                    ArrayState::Missing(why) => Err(Absent::Unreadable(why.to_owned()).into()),
                }
            }
            TypeKind::Array(array) => self.element(&ty, array, index),
            TypeKind::Pointer(_) => {
                let first = self.target(process)?;
                let size = super::complete(&first.ty, process)?.size();
                let size = size.ok_or_else(|| ObjectError::Sizeless(first.ty.spelled()))?;
                first.moved(index, Some(size))
            }
            _ => Err(ObjectError::NotIndexable(self.ty.spelled())),
        }
    }

    fn element(&self, ty: &Type, array: &ArrayType, index: i64) -> Result<Self, ObjectError> {
        let element = element_type(ty, array)?;
        let stride = match (array.stride, array.dimensions.len()) {
            (Some(stride), 0 | 1) => Some(stride),
            _ => element.size(),
        };
        self.cast(element).moved(index, stride)
    }

    /// An object of the same type, `index` objects of `stride` bytes behind this one.
    fn moved(&self, index: i64, stride: Option<u64>) -> Result<Self, ObjectError> {
        let nowhere = || ObjectError::Nowhere(index);
        // Elements of a section that runs backwards lie before one another.
        let bytes = stride.map(u64::cast_signed);
        let bytes = bytes.and_then(|stride| stride.checked_mul(index)).ok_or_else(nowhere)?;
        match (&self.place, u64::try_from(bytes)) {
            (place, Ok(bytes)) => Ok(Self { ty: self.ty.clone(), place: place.part(bytes) }),
            (crate::ObjectPlace::Memory(at), Err(_)) => {
                let at = at.get().checked_add_signed(bytes).ok_or_else(nowhere)?;
                Ok(Self::at(self.ty.clone(), Addr::new(at)))
            }
            _ => Err(nowhere()),
        }
    }
}

/// What an array consists of: of one with several dimensions, arrays without the first.
pub(crate) fn element_type(ty: &Type, array: &ArrayType) -> Result<Type, ObjectError> {
    let element = ty.follow(&array.element)?;
    let inner = array.dimensions.get(1..).unwrap_or_default();
    let wrapped = inner.iter().rev().fold(element, |element, dimension| match dimension {
        Dimension::Count(count) => element.array(Some(*count)),
        _ => element.array(None),
    });
    Ok(wrapped)
}
