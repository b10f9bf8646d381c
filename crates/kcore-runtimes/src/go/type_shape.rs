//! What types are made of: fields, elements, keys (`internal/abi/type.go`, `internal/abi/map*.go`; before Go 1.21
//! `runtime/type.go`, alike).

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace};

use super::{
    bytes::Bytes,
    tables::Tables,
    types::{GoType, Kind},
};

/// What follows the fields that all types have.
const ELEMENT: u64 = 48;
const LENGTH: u64 = 64;
const KEY: u64 = 48;
const VALUE: u64 = 56;
const GROUP: u64 = 64;
const FIELDS: u64 = 56;
const METHODS: u64 = 56;
/// A field of a structure: its name, its type and where it lies.
const FIELD: u64 = 24;
/// Kinds.
const KIND: u64 = 23;
const KIND_MASK: u64 = 0x1f;
/// Fields of one structure, at most.
const MAX_FIELDS: u64 = 1 << 12;
/// Bytes of a field's name, at most.
const MAX_NAME: u32 = 1 << 8;

/// A type, with what it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shaped {
    /// The type.
    pub ty: GoType,
    /// What it is made of.
    pub shape: Shape,
}

/// What a type is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number, or a truth value.
    Plain,
    /// A text.
    Text,
    /// An interface, with the number of its methods.
    Interface(u64),
    /// A pointer to a type.
    Pointer(Addr),
    /// A pointer to something.
    Unsafe,
    /// A function.
    Function,
    /// A channel of a type.
    Channel(Addr),
    /// A slice of a type.
    Slice(Addr),
    /// So many of a type.
    Array(Addr, u64),
    /// Fields, lowest first.
    Structure(Vec<Field>),
    /// A map.
    Map(MapShape),
}

/// The types that a map is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapShape {
    /// Where its own type lies.
    pub ty: Addr,
    /// The type of keys.
    pub key: Addr,
    /// The type of values.
    pub value: Addr,
    /// The type of that in which several lie together, a bucket or a group.
    pub group: Addr,
}

/// A field of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// Where its type lies.
    pub ty: Addr,
    /// Where it lies in the structure.
    pub offset: u64,
}

impl Shaped {
    /// The type that is described at an address.
    pub fn load(space: &dyn AddressSpace, tables: &Tables, at: Addr) -> Option<Self> {
        let ty = GoType::load(space, tables, at)?;
        let word = |offset: u64| space.read_word(at.checked_add(offset)?).ok();
        let number = space.read_uint(at.checked_add(KIND)?, 1).ok()? & KIND_MASK;
        let element = || word(ELEMENT).map(Addr::new);
        let shape = match number {
            17 => Shape::Array(element()?, word(LENGTH)?),
            18 => Shape::Channel(element()?),
            19 => Shape::Function,
            20 => Shape::Interface(word(METHODS.checked_add(8)?)?),
            21 => Shape::Map(MapShape {
                ty: at,
                key: Addr::new(word(KEY)?),
                value: Addr::new(word(VALUE)?),
                group: Addr::new(word(GROUP)?),
            }),
            22 => Shape::Pointer(element()?),
            23 => Shape::Slice(element()?),
            24 => Shape::Text,
            25 => {
                let (first, count) = (word(FIELDS)?, word(FIELDS + 8)?);
                let flags = u32::from(tables.has_flagged_offsets);
                Shape::Structure(fields(space, &ty, (first, count), flags)?)
            }
            26 => Shape::Unsafe,
            _ => Shape::Plain,
        };
        Some(Self { ty, shape })
    }

    /// Whether an interface holds a value of it in place of a pointer to one (`types.IsDirectIface`).
    pub fn is_direct(&self, load: &dyn Fn(Addr) -> Option<Arc<Self>>) -> bool {
        self.is_direct_within(load, MAX_NESTED)
    }

    /// A type of one part is as that part.
    fn is_direct_within(&self, load: &dyn Fn(Addr) -> Option<Arc<Self>>, depth: usize) -> bool {
        let part = match &self.shape {
            Shape::Pointer(_)
            | Shape::Unsafe
            | Shape::Function
            | Shape::Channel(_)
            | Shape::Map(_) => return true,
            Shape::Structure(fields) if fields.len() == 1 => fields.first().map(|it| it.ty),
            Shape::Array(element, 1) => Some(*element),
            _ => return false,
        };
        let (part, depth) = (part.and_then(load), depth.checked_sub(1));
        part.zip(depth).is_some_and(|(part, depth)| part.is_direct_within(load, depth))
    }
}

/// Types within types that are looked at.
pub const MAX_NESTED: usize = 32;

/// So many fields from the first on, whose offsets stand above so many bits that say something else.
fn fields(
    space: &dyn AddressSpace,
    ty: &GoType,
    (first, count): (u64, u64),
    flags: u32,
) -> Option<Vec<Field>> {
    (ty.kind == Kind::Compound && count <= MAX_FIELDS).then_some(())?;
    let field = |number: u64| {
        let at = Addr::new(first.checked_add(number.checked_mul(FIELD)?)?);
        let word = |offset: u64| space.read_word(at.checked_add(offset)?).ok();
        let offset = word(16)?.checked_shr(flags).filter(|offset| *offset <= ty.size)?;
        Some(Field { name: name(space, Addr::new(word(0)?))?, ty: Addr::new(word(8)?), offset })
    };
    (0..count).map(field).collect()
}

/// A name: a byte of flags, its length, and its text.
fn name(space: &dyn AddressSpace, at: Addr) -> Option<Arc<str>> {
    let mut bytes = Bytes::new(space, at.checked_add(1)?);
    let len = bytes.varint()?.min(MAX_NAME);
    let name: Option<Vec<u8>> = (0..len).map(|_| bytes.byte()).collect();
    Some(String::from_utf8_lossy(&name?).into())
}
