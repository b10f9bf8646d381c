//! Types by the descriptors that programs themselves know them by (`internal/abi/type.go`, the same from
//! Go 1.19 to 1.27): the linker leaves types out of the debug information that no variable has, and an
//! interface may hold a value of any.

use kcore_mem::Addr;
use kcore_symbols::{
    AliasKind, AliasType, BaseType, Composite, Encoding, Keyword, Member, MemberPlace, Type,
    TypeKind, TypeNode,
};

use crate::eval::Evaluator;

/// In `tflag`: the name has an asterisk that is not the type's.
const EXTRA_STAR: u64 = 1 << 1;

/// In `kind` until Go 1.25, in `tflag` since: an interface holds the value itself, being one pointer.
const DIRECT: u64 = 1 << 5;

/// What else there is in `kind`.
const KIND_MASK: u64 = DIRECT - 1;

/// The kinds of numbers, from `Bool` on: how they are read.
const NUMBERS: [Encoding; 16] = {
    use Encoding::{Bool, ComplexFloat, Float, Signed, Unsigned};
    [
        Bool,
        Signed,
        Signed,
        Signed,
        Signed,
        Signed,
        Unsigned,
        Unsigned,
        Unsigned,
        Unsigned,
        Unsigned,
        Unsigned,
        Float,
        Float,
        ComplexFloat,
        ComplexFloat,
    ]
};

/// The other kinds whose values are shown by their parts.
const ARRAY: u64 = 17;
const INTERFACE: u64 = 20;
const POINTER: u64 = 22;
const SLICE: u64 = 23;
const STRING: u64 = 24;
const STRUCT: u64 = 25;

/// Where the parts of a descriptor stand, and those behind it of the kinds that have more, with words of
/// eight bytes.
const SIZE: u64 = 0;
const TFLAG: u64 = 20;
const KIND: u64 = 23;
const NAME: u64 = 40;
const ELEMENT: u64 = 48;
const ARRAY_COUNT: u64 = 64;
const MEMBERS: u64 = 56;
const MEMBER_COUNT: u64 = 64;

/// Bytes of a word, and of a member: its name, its type and its offset.
const WORD: u64 = 8;
const MEMBER_SIZE: u64 = 24;

/// Descriptors within descriptors that are read, members of one structure, and bytes of a name.
const MAX_NESTED: usize = 6;
const MAX_MEMBERS: u64 = 1 << 10;
const MAX_NAME: u64 = 1 << 12;

/// The descriptor of a type.
#[derive(Clone, Copy)]
pub struct Descriptor<'e, 'p> {
    evaluator: &'e Evaluator<'p>,
    at: Addr,
    /// Descriptors in it that are still read.
    nested: usize,
}

impl<'e, 'p> Descriptor<'e, 'p> {
    /// The descriptor at an address.
    pub const fn at(evaluator: &'e Evaluator<'p>, at: Addr) -> Self {
        Self { evaluator, at, nested: MAX_NESTED }
    }

    /// Whether an interface holds such a value itself, and not a pointer to it.
    pub fn is_direct(&self) -> Option<bool> {
        Some((self.flags()? | self.kind()?) & DIRECT != 0)
    }

    /// The type as the debug information has it, else as the descriptor tells.
    pub fn ty(&self) -> Option<Type> {
        self.evaluator.process().type_of_descriptor(self.at).or_else(|| self.made())
    }

    /// The name of the type, its package by the last part of its path alone.
    fn name(&self) -> Option<String> {
        let first = self.evaluator.process().descriptors_around(self.at)?;
        let name = self.name_at(first.checked_add(self.read(self.at.checked_add(NAME)?, 4)?)?)?;
        let has_star = self.flags()? & EXTRA_STAR != 0;
        Some(if has_star { name.strip_prefix('*')?.to_owned() } else { name })
    }

    fn made(&self) -> Option<Type> {
        if self.evaluator.word() != WORD {
            return None;
        }
        let kind = match self.kind()? & KIND_MASK {
            ARRAY => self.element()?.array(Some(self.number(ARRAY_COUNT)?)).kind().clone(),
            INTERFACE => {
                words([("tab", Type::void().pointer(WORD)), ("data", Type::void().pointer(WORD))])
            }
            POINTER => self.element()?.pointer(WORD).kind().clone(),
            SLICE => words([
                ("array", self.element()?.pointer(WORD)),
                ("len", count()),
                ("cap", count()),
            ]),
            STRING => words([("str", byte().pointer(WORD)), ("len", count())]),
            STRUCT => self.structure()?,
            other => number_or_pointer(other),
        };
        Some(named(&self.name()?, self.number(SIZE)?, kind))
    }

    fn structure(&self) -> Option<TypeKind> {
        let first = Addr::new(self.number(MEMBERS)?);
        let count = self.number(MEMBER_COUNT).filter(|count| *count <= MAX_MEMBERS)?;
        let mut members = Vec::new();
        for index in 0..count {
            let at = first.checked_add(index.checked_mul(MEMBER_SIZE)?)?;
            let name = self.name_at(self.evaluator.pointer_at(at, 0)?)?;
            let ty = self.behind(self.evaluator.pointer_at(at, WORD)?)?;
            let offset = self.evaluator.pointer_at(at, WORD.checked_mul(2)?)?;
            members.push(member(&name, &ty, offset.get()));
        }
        Some(composite(members))
    }

    /// What an array, a slice or a pointer leads to.
    fn element(&self) -> Option<Type> {
        self.behind(Addr::new(self.number(ELEMENT)?))
    }

    /// The type of another descriptor; `void` where these go too deep.
    fn behind(&self, at: Addr) -> Option<Type> {
        match self.nested.checked_sub(1) {
            Some(nested) => Descriptor { at, nested, ..*self }.ty(),
            None => Some(Type::void()),
        }
    }

    fn flags(&self) -> Option<u64> {
        self.read(self.at.checked_add(TFLAG)?, 1)
    }

    fn kind(&self) -> Option<u64> {
        self.read(self.at.checked_add(KIND)?, 1)
    }

    /// A word of the descriptor.
    fn number(&self, offset: u64) -> Option<u64> {
        self.read(self.at.checked_add(offset)?, 8)
    }

    fn read(&self, at: Addr, size: usize) -> Option<u64> {
        self.evaluator.go(1)?;
        self.evaluator.process().space().read_uint(at, size).ok()
    }

    /// A name: a byte of flags, its length in groups of seven bits, its bytes.
    fn name_at(&self, at: Addr) -> Option<String> {
        let (low, high) = (self.read(at.checked_add(1)?, 1)?, self.read(at.checked_add(2)?, 1)?);
        let (len, skipped) = match low & 0x80 {
            0 => (low, 2),
            _ => ((low & 0x7f) | (high & 0x7f) << 7, 3),
        };
        let len = len.min(MAX_NAME);
        let bytes = self.evaluator.process().space().read_held(at.checked_add(skipped)?, len);
        let is_whole = u64::try_from(bytes.len()).is_ok_and(|held| held == len);
        String::from_utf8(bytes).ok().filter(|_| is_whole)
    }
}

/// A number; of what is none, a pointer to something of the runtime.
fn number_or_pointer(kind: u64) -> TypeKind {
    let index = kind.checked_sub(1).and_then(|kind| usize::try_from(kind).ok());
    match index.and_then(|index| NUMBERS.get(index)) {
        Some(encoding) => number(*encoding),
        None => Type::void().pointer(WORD).kind().clone(),
    }
}

fn number(encoding: Encoding) -> TypeKind {
    TypeKind::Base(BaseType { encoding, bits: None, swapped: false })
}

fn byte() -> Type {
    named("uint8", 1, number(Encoding::Unsigned))
}

fn count() -> Type {
    named("int", WORD, number(Encoding::Signed))
}

/// A structure of words.
fn words<const N: usize>(parts: [(&str, Type); N]) -> TypeKind {
    let offsets = (0_u64..).map(|index| index.saturating_mul(WORD));
    let members = parts.into_iter().zip(offsets);
    composite(members.map(|((name, ty), offset)| member(name, &ty, offset)).collect())
}

fn member(name: &str, ty: &Type, offset: u64) -> Member {
    let place = MemberPlace::Offset(offset);
    Member { name: Some(name.into()), ty: ty.link(), place, is_artificial: false }
}

fn composite(members: Vec<Member>) -> TypeKind {
    TypeKind::Composite(Box::new(Composite {
        keyword: Keyword::Struct,
        bases: Vec::new(),
        members,
        statics: Vec::new(),
        variants: None,
        arguments: Vec::new(),
        is_dynamic: false,
    }))
}

/// A type of a name: of a structure it is that of an alias, as in Go's debug information, so that no
/// `struct` is spelled before it.
fn named(name: &str, size: u64, kind: TypeKind) -> Type {
    if matches!(kind, TypeKind::Composite(_)) {
        let alias = AliasType { kind: AliasKind::Typedef, to: made(None, size, kind).link() };
        return made(Some(name), size, TypeKind::Alias(alias));
    }
    made(Some(name), size, kind)
}

fn made(name: Option<&str>, size: u64, kind: TypeKind) -> Type {
    let name = name.map(Into::into);
    Type::made(TypeNode { id: None, name, size: Some(size), is_declaration: false, kind })
}
