//! Types, which the compiler describes for the runtime whatever is stripped (`internal/abi/type.go`; before Go 1.21
//! `runtime/type.go`, alike).

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use super::{bytes::Bytes, tables::Tables};

/// Fields of a type. What follows them depends on the kind.
const SIZE: u64 = 0;
const FLAGS: u64 = 20;
const KIND: u64 = 23;
const NAME: u64 = 40;
/// The kind, among flags.
const KIND_MASK: u8 = 0x1f;
/// A flag: the name has a star too many.
const EXTRA_STAR: u64 = 2;
/// Longer names are cut.
const MAX_NAME: u32 = 1 << 10;

/// A kind of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Bool,
    /// A number with a sign, of so many bytes.
    Int(u8),
    /// A number without a sign.
    Uint(u8),
    /// A number with a fraction.
    Float(u8),
    /// Two of them.
    Complex(u8),
    /// A text.
    Text,
    /// An interface.
    Interface,
    /// A pointer, or what else is one: a channel, a map, a function.
    Pointer,
    /// A slice.
    Slice,
    /// An array, or a structure.
    Compound,
}

impl Kind {
    /// Whether a value says all without following pointers, or is a text.
    pub const fn is_plain(self) -> bool {
        !matches!(self, Self::Interface | Self::Pointer | Self::Slice | Self::Compound)
    }

    /// What a number says, with the size of its values.
    fn of(number: u8, size: u64) -> Option<Self> {
        let number = number & KIND_MASK;
        let small =
            |first: u8| 1_u8.checked_shl(u32::from(number.saturating_sub(first))).unwrap_or(0);
        let (kind, expected) = match number {
            1 => (Self::Bool, Some(1)),
            2 | 6 => (Self::Int(8), Some(8)),
            3..=5 => (Self::Int(small(3)), Some(u64::from(small(3)))),
            7 | 11 | 12 => (Self::Uint(8), Some(8)),
            8..=10 => (Self::Uint(small(8)), Some(u64::from(small(8)))),
            13 => (Self::Float(4), Some(4)),
            14 => (Self::Float(8), Some(8)),
            15 => (Self::Complex(4), Some(8)),
            16 => (Self::Complex(8), Some(16)),
            17 | 25 => (Self::Compound, None),
            18 | 19 | 21 | 22 | 26 => (Self::Pointer, Some(8)),
            20 => (Self::Interface, Some(16)),
            23 => (Self::Slice, Some(24)),
            24 => (Self::Text, Some(16)),
            _ => return None,
        };
        expected.is_none_or(|expected| expected == size).then_some(kind)
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoType {
    /// Its kind.
    pub kind: Kind,
    /// Bytes of a value.
    pub size: u64,
    /// Its name with its package, as Go prints it: `main.T`, `*main.T`, `[]int`.
    pub name: Arc<str>,
}

impl GoType {
    /// That which is described at an address: within the types of a module, or else made while the program ran, which
    /// has no name here.
    pub fn load(space: &dyn AddressSpace, tables: &Tables, at: Addr) -> Option<Self> {
        let field = |offset: u64, size| space.read_uint(at.checked_add(offset)?, size).ok();
        let module = tables.types.iter().find(|types| types.contains(at))?;
        let size = field(SIZE, 8)?;
        let kind = Kind::of(u8::try_from(field(KIND, 1)?).ok()?, size)?;
        let name = module.start.checked_add(field(NAME, 4)?).filter(|at| module.contains(*at))?;
        // A byte of flags comes first.
        let mut bytes = Bytes::new(space, name.checked_add(1)?);
        let len = bytes.varint()?.min(MAX_NAME);
        let name: Option<Vec<u8>> = (0..len).map(|_| bytes.byte()).collect();
        let name = String::from_utf8_lossy(&name?).into_owned();
        let has_star = field(FLAGS, 1)? & EXTRA_STAR != 0;
        let bare = name.strip_prefix('*').filter(|_| has_star);
        let name = bare.unwrap_or(&name).into();
        Some(Self { kind, size, name })
    }

    /// Whether it is one that the language has, as `int`, and not made of that by a program.
    pub fn is_predeclared(&self) -> bool {
        !self.name.contains('.')
    }
}

/// Where a table of methods has its interface and its type (`runtime.itab`).
const INTERFACE: u64 = 0;
const DYNAMIC: u64 = 8;

impl super::Go {
    /// The type that the first word of an interface says: it is that type's address, or that of a table of methods.
    pub(super) fn dynamic_type(
        &self,
        space: &dyn AddressSpace,
        word: Addr,
        kind: &dyn Fn(Addr) -> Option<Kind>,
    ) -> Option<Addr> {
        (word.get() != 0 && word.get().is_multiple_of(8)).then_some(())?;
        let is_type = |at: Addr| self.tables.types.iter().any(|types| types.contains(at));
        let field = |offset: u64| space.read_addr(word.checked_add(offset)?).ok();
        // A table of methods may lie among the types, whose first word is a size.
        let of_table = || {
            let (interface, dynamic) = (field(INTERFACE)?, field(DYNAMIC)?);
            let is_one = is_type(interface) && kind(interface)? == Kind::Interface;
            (is_one && kind(dynamic).is_some()).then_some(dynamic)
        };
        of_table().or_else(|| (is_type(word) && kind(word).is_some()).then_some(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_their_sizes() {
        let known: Vec<Option<Kind>> =
            [(2, 8), (3, 1), (4, 2), (5, 4), (6, 8), (8, 1), (9, 2), (10, 4), (0x20 | 22, 8)]
                .map(|(number, size)| Kind::of(number, size))
                .to_vec();
        let (int, uint) = (Kind::Int, Kind::Uint);
        let expected = [int(8), int(1), int(2), int(4), int(8), uint(1), uint(2), uint(4)];
        let expected = expected.into_iter().chain([Kind::Pointer]).map(Some);
        assert!(known.into_iter().eq(expected));
        assert_eq!([Kind::of(0, 8), Kind::of(27, 8), Kind::of(24, 8), Kind::of(4, 4)], [None; 4]);
    }
}
