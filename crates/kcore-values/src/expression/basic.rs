//! The types of what operators compute: those of C.

use kcore_mem::Target;
use kcore_symbols::{BaseType, Encoding, Type, TypeKind, TypeNode};

/// An integer of at least 32 bits.
pub fn integer(target: Target, bits: u32, signed: bool) -> Type {
    let encoding = if signed { Encoding::Signed } else { Encoding::Unsigned };
    let is_word = u64::from(target.word).saturating_mul(8) == u64::from(bits);
    let name = match (bits, signed) {
        (0..=32, true) => "int",
        (0..=32, false) => "unsigned int",
        (33..=64, true) if is_word => "long",
        (33..=64, false) if is_word => "unsigned long",
        (33..=64, true) => "long long",
        (33..=64, false) => "unsigned long long",
        (_, true) => "__int128",
        (_, false) => "unsigned __int128",
    };
    base(name, u64::from(bits.div_ceil(8)), encoding)
}

/// What comparisons give: `bool` in languages that have it, `int` in C.
pub fn truth(target: Target, has_bool: bool) -> Type {
    if has_bool { base("bool", 1, Encoding::Bool) } else { integer(target, 32, true) }
}

/// `char`.
pub fn character() -> Type {
    base("char", 1, Encoding::SignedChar)
}

/// `double`, or `float`.
pub fn floating(is_single: bool) -> Type {
    match is_single {
        true => base("float", 4, Encoding::Float),
        false => base("double", 8, Encoding::Float),
    }
}

fn base(name: &str, size: u64, encoding: Encoding) -> Type {
    Type::made(TypeNode {
        id: None,
        name: Some(name.into()),
        size: Some(size),
        is_declaration: false,
        kind: TypeKind::Base(BaseType { encoding, bits: None, swapped: false }),
    })
}
