//! The basic types of C, for programs of which nothing describes them.

use kcore_symbols::{BaseType, Encoding, Type, TypeKind, TypeNode};

/// How wide the integers of C are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataModel {
    /// `int`, `long` and pointers have 32 bits.
    Ilp32,
    /// `long` and pointers have 64 bits.
    Lp64,
}

impl DataModel {
    /// The usual one of a machine with words of so many bytes.
    pub const fn of_word(bytes: usize) -> Self {
        if bytes == 4 { Self::Ilp32 } else { Self::Lp64 }
    }

    /// Bytes of `long` and of pointers.
    pub const fn long(self) -> u64 {
        match self {
            Self::Ilp32 => 4,
            Self::Lp64 => 8,
        }
    }
}

use Encoding::{Bool, Float, Signed, SignedChar, Unsigned, UnsignedChar};

/// Names as debug information spells them, and what they are. `long` and what is as wide have size 0.
const TYPES: &[(&str, Encoding, u64)] = &[
    ("char", SignedChar, 1),
    ("signed char", SignedChar, 1),
    ("unsigned char", UnsignedChar, 1),
    ("short int", Signed, 2),
    ("short unsigned int", Unsigned, 2),
    ("int", Signed, 4),
    ("unsigned int", Unsigned, 4),
    ("long int", Signed, 0),
    ("long unsigned int", Unsigned, 0),
    ("long long int", Signed, 8),
    ("long long unsigned int", Unsigned, 8),
    ("__int128", Signed, 16),
    ("__int128 unsigned", Unsigned, 16),
    ("_Bool", Bool, 1),
    ("bool", Bool, 1),
    ("float", Float, 4),
    ("double", Float, 8),
    ("long double", Float, 16),
    ("int8_t", Signed, 1),
    ("int16_t", Signed, 2),
    ("int32_t", Signed, 4),
    ("int64_t", Signed, 8),
    ("uint8_t", Unsigned, 1),
    ("uint16_t", Unsigned, 2),
    ("uint32_t", Unsigned, 4),
    ("uint64_t", Unsigned, 8),
    ("intptr_t", Signed, 0),
    ("uintptr_t", Unsigned, 0),
    ("size_t", Unsigned, 0),
    ("ssize_t", Signed, 0),
    ("ptrdiff_t", Signed, 0),
    ("time_t", Signed, 0),
];

/// The basic type of that name, or `None`.
pub fn named(name: &str, model: DataModel) -> Option<Type> {
    if name == "void" {
        return Some(Type::void());
    }
    let (name, encoding, size) = TYPES.iter().find(|(known, ..)| *known == name).copied()?;
    let size = if size == 0 { model.long() } else { size };
    Some(Type::made(TypeNode {
        id: None,
        name: Some(name.into()),
        size: Some(size),
        is_declaration: false,
        kind: TypeKind::Base(BaseType { encoding, bits: None, swapped: false }),
    }))
}
