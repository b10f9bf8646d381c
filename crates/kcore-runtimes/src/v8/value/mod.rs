//! JavaScript values, told as trees that end.

mod contents;
mod elements;
mod member;
mod module;
mod number;
mod object;
mod reader;
mod table;

use std::sync::Arc;

use kcore_mem::Addr;

pub use contents::{Contents, PromiseState};
pub use elements::{ElementContent, ElementType, HeldElements};
pub use member::Step;
pub use reader::Limits;
pub(super) use reader::Reader;

/// A value: the word that it is, and what that says.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The tagged word, by which it can be asked for again; `None` of a number that lies bare in an
    /// array.
    pub word: Option<u64>,
    /// What it is.
    pub kind: ValueKind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
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
    /// An object that lies too deep, or behind too many others.
    Elided(Reference),
    /// An object that it is a part of itself.
    Circular(Reference),
    /// An object of V8's own, which JavaScript never sees.
    Internal(Reference),
    /// No value, and why nothing is known of it.
    Unreadable(&'static str),
}

/// An object by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Where it lies, without tag.
    pub at: Addr,
    /// What made it, or what kind it is.
    pub class: Arc<str>,
    /// Whether it is an array.
    pub is_array: bool,
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
    /// Whether what is behind that cannot be read.
    pub is_damaged: bool,
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
    /// Whether there are more elements.
    pub has_more_elements: bool,
    /// Whether there are more properties.
    pub has_more_properties: bool,
}

/// An element of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Its index.
    pub index: u64,
    /// Its value, or its accessors.
    pub slot: Slot,
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
        /// The one that is called when it is read.
        getter: Option<Value>,
        /// The one that is called when it is written.
        setter: Option<Value>,
    },
}
