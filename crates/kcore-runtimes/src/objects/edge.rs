//! How an object refers to another. All runtimes use the same kinds of edges.

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
    /// As a value of a collection, if the key is neither a text nor a number.
    Value,
    /// As the value of a key that is a text.
    Entry(Arc<str>),
    /// As the value of a key that is a symbol.
    Symbol(Arc<str>),
    /// As the value of a key that is a number.
    Numbered(i64),
    /// By a variable of a scope or of a frame.
    Variable(Arc<str>),
    /// By a part that the runtime gives this name.
    Slot(&'static str),
    /// By the word at this offset.
    Word(u64),
    /// Without a name: as a member of a set, or by a field that has none.
    Inside,
}

/// A reference of an object to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedEdge {
    /// Where the object begins to which it refers.
    pub to: Addr,
    /// The kind of the reference.
    pub edge: Edge,
    /// Whether the reference is weak, and does not keep the object.
    pub is_weak: bool,
}

/// An object, or a frame of the language, that refers to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referrer {
    /// Where the object begins to which it refers.
    pub to: Addr,
    /// Where the referrer begins.
    pub at: Addr,
    /// Its class, or the function whose frame it is; `None` where neither can be read.
    pub class: Option<Arc<str>>,
    /// The kind of the reference.
    pub edge: Edge,
    /// Whether the reference is weak, and does not keep the object.
    pub is_weak: bool,
}
