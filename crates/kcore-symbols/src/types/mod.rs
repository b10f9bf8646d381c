//! Types of a module, read from its debug information when somebody asks for them.
//!
//! - [`model`] says what a type is, [`handle`] what one can ask of a type at hand.
//! - [`read`] makes types of entries of DWARF.
//! - [`spelling`] writes their names as C and C++ do.

mod error;
mod handle;
mod model;
mod read;
mod spelling;

pub use error::TypeError;
pub use handle::{Type, TypeIdentity};
pub use model::{
    AliasKind, AliasType, ArrayBound, ArrayLayout, ArrayPresence, ArrayType, BaseClass, BaseType,
    BitField, Composite, Dimension, Encoding, Enumeration, Enumerator, FunctionType, Keyword,
    Member, MemberPlace, MemberPointerType, OpenType, PointerKind, PointerType, StaticMember,
    TypeArgument, TypeKind, TypeLink, TypeNode, Variant, VariantPart,
};
pub use read::DeclaredAt;
pub(crate) use read::{DieEntry, Named, name_of, named, read, scope_at, scope_of, vtable};
