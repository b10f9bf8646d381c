//! JavaScript values, told as trees that end.

mod contents;
mod elements;
mod number;
mod object;
mod reader;
mod table;

use std::sync::Arc;

use kcore_mem::Addr;

pub use contents::{Contents, PromiseState};
pub use elements::ElementType;
pub use reader::Limits;
pub(super) use reader::Reader;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `undefined`
    Undefined,
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A number.
    Number(f64),
    /// An integer of any length, in decimal digits; in hexadecimal ones, with `0x`, where it is long.
    BigInt(Arc<str>),
    /// A string.
    String(Text),
    /// A symbol, and its description.
    Symbol(Option<Arc<str>>),
    /// Nothing: a slot of an array that was never written.
    Hole,
    /// An object.
    Object(Box<Object>),
    /// An object that was told before, or lies too deep.
    Seen(Reference),
    /// An object of V8's own, which JavaScript never sees.
    Internal(Reference),
    /// No value: the word, and what is wrong with it.
    Unreadable {
        /// The word.
        word: u64,
        /// Why nothing is known of it.
        why: &'static str,
    },
}

/// An object by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Where it lies, without tag.
    pub at: Addr,
    /// What made it, or what kind it is.
    pub class: Arc<str>,
}

/// Text as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Where the string lies, without tag.
    pub at: Addr,
    /// Its length in UTF-16 units.
    pub length: u64,
    /// Its text, or the beginning of it; lone surrogates are replaced.
    pub text: Arc<str>,
    /// Whether there is more.
    pub is_cut: bool,
}

/// An object.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Where it lies, without tag.
    pub at: Addr,
    /// What made it: `Object`, `Array`, the name of a class.
    pub class: Arc<str>,
    /// What it holds besides properties, by its kind.
    pub contents: Contents,
    /// Its elements: properties that are numbers.
    pub elements: Vec<Element>,
    /// Its other properties, in the order in which they were added.
    pub properties: Vec<Member>,
    /// Whether there are more elements or properties.
    pub is_cut: bool,
}

/// An element of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Its index.
    pub index: u64,
    /// Its value.
    pub value: Value,
}

/// A property of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its name.
    pub key: Key,
    /// Its value, or its accessors.
    pub slot: Slot,
    /// Whether loops over the object see it.
    pub is_enumerable: bool,
}

/// The name of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A string.
    Name(Arc<str>),
    /// A symbol, by its description.
    Symbol(Arc<str>),
    /// A private name of a class, with its `#`.
    Private(Arc<str>),
}

/// What a property is.
#[derive(Clone, Debug, PartialEq)]
pub enum Slot {
    /// A value.
    Value(Value),
    /// Functions that are called in place of a value.
    Accessor {
        /// Whether it can be read.
        has_getter: bool,
        /// Whether it can be written.
        has_setter: bool,
    },
}
