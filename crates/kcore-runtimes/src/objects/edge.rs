//! How an object refers to another: the same words for all runtimes.

use std::sync::Arc;

use kcore_mem::Addr;

/// The way in which an object refers to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// By a property, an attribute, a field, or a variable of a module.
    Member(Arc<str>),
    /// As an element of an array, a list or a tuple.
    Index(u64),
    /// As a key of a collection.
    Key,
    /// As a value of a collection, whose key is not told.
    Value,
    /// As the value of a key that is a text.
    Entry(Arc<str>),
    /// As the value of a key that is a number.
    Numbered(i64),
    /// By a variable of a scope or of a frame.
    Variable(Arc<str>),
    /// By a part that the runtime gives this name.
    Slot(&'static str),
    /// By the word at this offset.
    Word(u64),
    /// By something that it keeps: a member of a set, a field without a name.
    Inside,
}

/// A reference of an object to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedEdge {
    /// Where the object begins that it refers to.
    pub to: Addr,
    /// How it refers to it.
    pub edge: Edge,
    /// Whether it does not keep it.
    pub is_weak: bool,
}

/// An object, or a frame of the language, that refers to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referrer {
    /// Where the object begins that it refers to.
    pub to: Addr,
    /// Where it begins itself.
    pub at: Addr,
    /// Its class, or the function whose frame it is; `None` where neither can be read.
    pub class: Option<Arc<str>>,
    /// How it refers to it.
    pub edge: Edge,
    /// Whether it does not keep it.
    pub is_weak: bool,
}
