//! An object: a type at a place.

pub(crate) mod array_layout;
pub(crate) mod array_section;
mod dynamic;
mod error;
mod held;
mod members;
mod navigate;
mod number;
mod virtual_place;

pub(crate) use dynamic::dynamic_object;
pub use error::ObjectError;
pub use held::HolderKind;
pub(crate) use navigate::element_type;
pub(crate) use number::byte_order;

use std::sync::Arc;

use kcore_mem::{Addr, Endian, Target};
use kcore_symbols::{BitField, Type};

use crate::{Limits, ObjectPlace, Piece, PieceSource, Process, Value, eval::Evaluator};

/// Something of a type at a place. Nothing of it was read yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// What it is.
    pub ty: Type,
    /// Where it lies.
    pub place: ObjectPlace,
}

impl Object {
    /// An object in memory.
    pub const fn at(ty: Type, at: Addr) -> Self {
        Self { ty, place: ObjectPlace::Memory(at) }
    }

    /// An object that lies nowhere, and whose bits are known: as many of them as its type has bytes for, at most 16.
    pub fn of_number(ty: Type, bits: u128, target: Target) -> Self {
        let size = ty.size().unwrap_or(0).min(16);
        let len = usize::try_from(size).unwrap_or(0);
        let bytes: Arc<[u8]> = match target.endian {
            Endian::Little => bits.to_le_bytes().get(..len).unwrap_or_default().into(),
            Endian::Big => {
                let start = size_of::<u128>().saturating_sub(len);
                bits.to_be_bytes().get(start..).unwrap_or_default().into()
            }
        };
        let size = size.saturating_mul(8);
        let pieces = Arc::from([Piece { size, source: PieceSource::Bytes(bytes) }]);
        let bits = BitField { offset: 0, size };
        Self { ty, place: ObjectPlace::Pieces { pieces, bits } }
    }

    /// The same bytes, as another type.
    #[must_use]
    pub fn cast(&self, ty: Type) -> Self {
        Self { ty, place: self.place.clone() }
    }

    /// The address of its first byte; `None` for what lies in registers or in several places.
    pub fn address(&self) -> Option<Addr> {
        self.place.address()
    }

    /// What it says, as far as the limits allow. Parts that are not there are absent on their own.
    pub fn value(&self, process: &dyn Process, limits: &Limits) -> Value {
        Evaluator::new(process, limits).value(self)
    }

    /// Its type behind typedefs and qualifiers; of a type that is only declared, the definition if any
    /// module has it.
    ///
    /// # Errors
    /// When the type cannot be read.
    pub fn complete_type(&self, process: &dyn Process) -> Result<Type, ObjectError> {
        complete(&self.ty, process)
    }
}

/// The type behind typedefs and qualifiers, defined if any module defines it.
pub(crate) fn complete(ty: &Type, process: &dyn Process) -> Result<Type, ObjectError> {
    let stripped = ty.stripped()?;
    if !stripped.node().is_declaration {
        return Ok(stripped);
    }
    Ok(process.definition(&stripped).unwrap_or(stripped))
}
