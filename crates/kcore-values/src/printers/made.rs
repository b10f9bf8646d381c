//! Types and values of what is said of an object, and is no member of it.

use kcore_symbols::{BaseType, Encoding, Type, TypeKind, TypeNode};

use crate::{Content, Field, Number, Value};

/// `bool`, which the debug information need not have.
pub fn bool_type() -> Type {
    let base = BaseType { encoding: Encoding::Bool, bits: None, swapped: false };
    Type::made(TypeNode {
        id: None,
        name: Some("bool".into()),
        size: Some(1),
        is_declaration: false,
        kind: TypeKind::Base(base),
    })
}

/// A number without sign.
fn number_type() -> Type {
    let base = BaseType { encoding: Encoding::Unsigned, bits: None, swapped: false };
    Type::made(TypeNode {
        id: None,
        name: Some("u64".into()),
        size: Some(8),
        is_declaration: false,
        kind: TypeKind::Base(base),
    })
}

/// Something that is true or not of an object.
pub fn truth(name: &str, is_so: bool) -> Field {
    let number = Number { bits: u128::from(is_so), size: 8, signed: false };
    field(name, bool_type(), Content::Bool(number))
}

/// How many of something an object knows.
pub fn count(name: &str, count: u64) -> Field {
    let number = Number { bits: u128::from(count), size: 64, signed: false };
    field(name, number_type(), Content::Integer(number))
}

fn field(name: &str, ty: Type, content: Content) -> Field {
    let value = Value { ty, at: None, bits: None, content };
    Field { name: Some(name.into()), is_base: false, value }
}

/// That something has no bound.
pub fn unbounded(name: &str) -> Field {
    field(name, Type::void(), Content::Other("unbounded".to_owned()))
}
