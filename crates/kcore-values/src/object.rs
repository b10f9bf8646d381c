//! An object: a type at a place.

use kcore_symbols::Type;

use crate::Place;

/// Something of a type at a place. Nothing of it was read yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// What it is.
    pub ty: Type,
    /// Where it lies.
    pub place: Place,
}
