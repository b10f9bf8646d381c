//! What was read of an object: a tree.

use std::{borrow::Cow, sync::Arc};

use kcore_mem::Addr;
use kcore_symbols::{BitField, Type};

use crate::{Absent, SymbolName};

/// What was read of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its type as the debug information has it, typedefs included.
    pub ty: Type,
    /// Where it lies in memory; `None` for what lies in registers, in several places or nowhere.
    pub at: Option<Addr>,
    /// The bits behind that address, for a bit-field.
    pub bits: Option<BitField>,
    /// What it says.
    pub content: Content,
}

/// What a value says.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// It is not there.
    Absent(Absent),
    /// A limit was reached before it: `{ ... }`, `[ ... ]`.
    Elided,
    /// An integer of any size.
    Integer(Number),
    /// A character, by its code.
    Character(u32),
    /// True or false; any other number where there should be one of both.
    Bool(Number),
    /// A floating-point number.
    Float(FloatValue),
    /// A complex number: its two parts.
    Complex(FloatValue, FloatValue),
    /// A number with names.
    Enum(EnumValue),
    /// A pointer or a reference.
    Pointer(Pointer),
    /// A function.
    Function(Option<SymbolName>),
    /// Text: an array of characters, or a string of a standard library.
    Text(Text),
    /// An array of characters of one byte in which more than zeros follows its first NUL: all of its bytes, without
    /// the zeros at its end.
    Bytes(Arc<[u8]>),
    /// A structure, class or union, by its members.
    Fields(Vec<Field>),
    /// An array, or a container of values in an order of its own.
    Elements(Elements),
    /// A container of keys with values.
    Entries {
        /// The first of them.
        entries: Vec<Entry>,
        /// How many there are; `None` where only walking to its end would tell.
        total: Option<u64>,
    },
    /// One of several things that it may be: an enumeration with data, an optional, a variant.
    Variant(VariantValue),
    /// Something whose members or number alone would not say what it means.
    Meant(Meant),
    /// Nothing: the unit type, a structure without members.
    Empty,
    /// Something that no better content is known for, in words.
    Other(String),
}

/// A value with what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Meant {
    /// The value.
    pub of: Box<Content>,
    /// What it means, as its language writes it: `90s`, `2024-02-29`, `generic:2`.
    pub words: Arc<str>,
}

impl Content {
    /// The content with the words that say what it means.
    pub(crate) fn meaning(self, words: impl Into<Arc<str>>) -> Self {
        Self::Meant(Meant { of: Box::new(self), words: words.into() })
    }

    /// What it says without what it means.
    pub fn into_plain(self) -> Self {
        match self {
            Self::Meant(meant) => meant.of.into_plain(),
            content => content,
        }
    }

    /// As [`Content::into_plain`], borrowed.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Meant(meant) => meant.of.plain(),
            content => content,
        }
    }
}

impl Meant {
    /// Whether the value takes one word, beside which its meaning stands. Instead of any other, it stands alone.
    pub fn is_number(&self) -> bool {
        matches!(
            self.of.plain(),
            Content::Integer(_) | Content::Float(_) | Content::Pointer(_) | Content::Absent(_)
        )
    }
}

/// An integer: two's complement of up to 128 bits, or the bytes of a longer one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its bits, zeros above.
    pub bits: u128,
    /// How many bits it has.
    pub size: u32,
    /// Whether its highest bit is a sign.
    pub signed: bool,
}

/// A floating-point number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatValue {
    /// Its value, as near as a double can tell; its sign in any case.
    pub value: f64,
    /// Bytes of its type.
    pub size: u8,
    /// All of its bits, of a finite number whose type has more of them than a double.
    pub wide: Option<WideFloat>,
}

/// The magnitude of a finite number: `significand * 2^power`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideFloat {
    /// A whole number.
    pub significand: u128,
    /// Of two.
    pub power: i32,
    /// Decimal digits that tell any two numbers of its type apart.
    pub digits: u8,
}

impl FloatValue {
    /// Whether the double is the number itself, and not only near to it.
    pub fn is_double(&self) -> bool {
        self.wide.is_none_or(|wide| wide.is_double())
    }
}

impl WideFloat {
    fn is_double(&self) -> bool {
        /// The power of two that the last bit of the smallest double has, and that above the greatest one.
        const POWERS: std::ops::RangeInclusive<i64> = -1074..=1024;
        let lowest = self.significand.trailing_zeros();
        let end = 128_u32.saturating_sub(self.significand.leading_zeros());
        let place = |bit: u32| i64::from(self.power).saturating_add(i64::from(bit));
        let fits = POWERS.contains(&place(lowest)) && POWERS.contains(&place(end));
        self.significand == 0 || (fits && end.saturating_sub(lowest) <= f64::MANTISSA_DIGITS)
    }
}

/// A number with names.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumValue {
    /// The number.
    pub number: Number,
    /// The enumeration, which has the names.
    pub names: Type,
}

/// A pointer or a reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Pointer {
    /// Where it points to; `None` for a pointer to something that lies in no memory.
    pub to: Option<Addr>,
    /// The symbol there.
    pub symbol: Option<SymbolName>,
    /// The characters there, for a pointer to them.
    pub text: Option<Text>,
    /// Of what type the object there is, where it is known to be another than the pointer's: a derived
    /// class, the type behind a trait object.
    pub dynamic: Option<Type>,
    /// What it points to, where the pointer owns it, or stands for it.
    pub pointee: Option<Pointee>,
    /// Numbers beside the pointer that belong to it: counts of references.
    pub counts: Vec<(&'static str, u64)>,
}

/// What a pointer points to.
#[derive(Clone, Debug, PartialEq)]
pub enum Pointee {
    /// This.
    Value(Box<Value>),
    /// Something that is shown already, around this pointer.
    Shown,
}

/// Text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its characters; what is no character of its encoding is replaced.
    pub text: Arc<str>,
    /// Its bytes, where something was replaced that has one byte a character.
    pub bytes: Option<Arc<[u8]>>,
    /// Whether more of it follows.
    pub is_cut: bool,
}

impl Text {
    /// A text of characters alone.
    pub fn of(text: impl Into<Arc<str>>, is_cut: bool) -> Self {
        Self { text: text.into(), bytes: None, is_cut }
    }

    /// The text that bytes are, one or more for each character; what is no UTF-8 is replaced.
    pub fn of_bytes(bytes: &[u8], is_cut: bool) -> Self {
        match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => Self::of(text, is_cut),
            Cow::Owned(text) => Self { text: text.into(), bytes: Some(bytes.into()), is_cut },
        }
    }
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name; `None` of an anonymous one.
    pub name: Option<Arc<str>>,
    /// Whether it is a base class.
    pub is_base: bool,
    /// What it holds.
    pub value: Value,
}

/// An array, or a container of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Elements {
    /// The first of them.
    pub values: Vec<Value>,
    /// How many there are; `None` where only walking to its end would tell.
    pub total: Option<u64>,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Value,
    /// The value.
    pub value: Value,
}

/// One of several things that a value may be.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantValue {
    /// Which one, as its language names it: `Some`, `None`, `nullopt`; of a variant of C++ the type.
    pub name: Arc<str>,
    /// What it has. Members without names of their own have numbers: `0`, `1`.
    pub fields: Vec<Field>,
}
