//! Values of Python.

mod alias;
mod array;
mod callable;
mod containers;
mod decimal;
mod deque;
mod library;
mod member;
mod memory_view;
mod moment;
mod number;
mod ordered;
mod reader;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use kcore_mem::Addr;

use super::{Python, text::Text};
use crate::Host;

pub use member::Step;

/// How much of a value is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Objects inside of each other.
    pub depth: u32,
    /// Items, entries and attributes of one object.
    pub entries: u64,
    /// Characters or bytes of one text.
    pub characters: u64,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Where it lies; `None` of what is no object, or is not there.
    pub at: Option<Addr>,
    /// What its type is called, if that is known.
    pub class: Option<Arc<str>>,
    /// What it is.
    pub kind: ValueKind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
    /// `None`, `Ellipsis`, `NotImplemented`, `True`, `False`.
    Word(&'static str),
    /// An `int`, in decimal digits.
    Int(Arc<str>),
    /// A `float`.
    Float(f64),
    /// A `complex`.
    Complex(f64, f64),
    /// A `str`.
    Str(Text),
    /// A `bytes` or `bytearray`.
    Bytes {
        /// It, or the beginning of it.
        bytes: Vec<u8>,
        /// How many there are.
        length: u64,
    },
    /// A `list`, `tuple`, `set` or `frozenset`.
    Items {
        /// Which of them.
        of: Items,
        /// They, in order.
        items: Vec<Value>,
        /// How many there are.
        length: u64,
    },
    /// A `dict`.
    Dict {
        /// Keys and values, in order.
        entries: Vec<(Value, Value)>,
        /// How many there are.
        length: u64,
    },
    /// A function, method or builtin function.
    Function {
        /// Its qualified name.
        name: Option<Arc<str>>,
        /// Its file.
        file: Option<Arc<str>>,
        /// Its first line.
        line: Option<u32>,
    },
    /// A type.
    Type(Arc<str>),
    /// A module.
    Module(Option<Arc<str>>),
    /// Anything else.
    Object {
        /// What it was made of: the arguments of an exception.
        arguments: Option<Box<Value>>,
        /// Its attributes.
        attributes: Vec<(Arc<str>, Value)>,
        /// Whether it has more.
        has_more: bool,
    },
    /// What is derived from a builtin type, or has attributes beside what it is.
    With {
        /// What it is without them.
        value: Box<Value>,
        /// Its attributes.
        attributes: Vec<(Arc<str>, Value)>,
        /// Whether it has more.
        has_more: bool,
    },
    /// An object of a type that C code made, whose contents are not known.
    Opaque {
        /// Its type, with its module.
        type_name: Arc<str>,
        /// The attributes that are known.
        attributes: Vec<(Arc<str>, Value)>,
        /// Whether it has more.
        has_more: bool,
    },
    /// What lies deeper than is told.
    Elided,
    /// What it is inside of itself.
    Circular,
    /// Why it cannot be told.
    Unreadable(&'static str),
}

/// Objects whose items have no names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    /// `[1, 2]`
    List,
    /// `(1, 2)`
    Tuple,
    /// `{1, 2}`
    Set,
    /// `frozenset({1, 2})`
    FrozenSet,
}

impl ValueKind {
    /// An object of which there is more than is told.
    pub(super) fn with_more(self, is_so: bool) -> Self {
        match self {
            Self::Object { arguments, attributes, has_more } => {
                Self::Object { arguments, attributes, has_more: has_more || is_so }
            }
            other => other,
        }
    }
}

impl Value {
    /// What lies nowhere.
    pub(super) const fn of_kind(kind: ValueKind) -> Self {
        Self { at: None, class: None, kind }
    }

    /// A number that lies nowhere.
    pub(super) fn of_int(number: impl std::fmt::Display) -> Self {
        Self::of_kind(ValueKind::Int(number.to_string().into()))
    }

    /// A text that lies nowhere.
    pub(super) fn made(text: &str) -> Self {
        let length = text.chars().count() as u64;
        let text = Text { text: text.to_owned(), lone: Vec::new(), length, is_whole: true };
        Self { at: None, class: None, kind: ValueKind::Str(text) }
    }
}

impl Python {
    /// The object at an address; `None` where none lies.
    pub fn value(&self, host: &dyn Host, at: Addr, limits: Limits) -> Option<Value> {
        let heap = self.heap(host);
        let object = heap.object(at)?;
        Some(reader::Reader::new(self, host, limits).value(object))
    }

    /// The object at an address, or why none can be read there.
    pub fn value_or_why(&self, host: &dyn Host, at: Addr, limits: Limits) -> Value {
        reader::Reader::new(self, host, limits).at(at)
    }

    /// What a word of a frame or an object refers to: since 3.14 its lowest bits are a tag.
    pub(super) fn referred(&self, word: u64) -> Option<Addr> {
        let at = if self.layout.minor >= 14 { word & !3 } else { word };
        (at != 0).then_some(Addr::new(at))
    }
}
