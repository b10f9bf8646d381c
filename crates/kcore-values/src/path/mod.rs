//! Paths from an object to its parts, as users type them: `n_next->n_sub.s_count`, `n_vals[2]`,
//! `((struct foo *)n_data)->f_name`.
//!
//! A path is C's expression of one variable, with its precedence, and what is between brackets may be
//! a range, `[1..3]`, or the key of a map, `["name"]`. Without a delimiter at its beginning a path into
//! a structure begins with `.`, one into what a pointer points to with `->`.

mod class_variable;
mod containers;
mod deref;
mod offset;
mod parse;
mod walk;
mod walked;

use kcore_mem::Addr;
use kcore_symbols::Type;

use crate::{Object, ObjectError};

/// What words in a path mean to whoever typed it.
pub trait PathWords {
    /// The value of an index: a number in the radix of the session, or an expression.
    ///
    /// # Errors
    /// When it has none, in words.
    fn number(&self, text: &str) -> Result<u64, String>;

    /// The type that a cast names.
    ///
    /// # Errors
    /// When there is none, in words.
    fn type_named(&self, text: &str) -> Result<Type, String>;
}

/// A part of an object that a path leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPart {
    /// The part.
    pub object: Object,
    /// The path as typed; each range in it is the index of this part.
    pub path: String,
    /// Whether the path ends with `[0]` of a pointer, so that `->` leads on from what is before it.
    pub is_target: bool,
}

/// Where a path leads to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathEnd {
    /// One part, or several where a range is in the path.
    pub parts: Vec<PathPart>,
    /// What makes them doubtful.
    pub warnings: Vec<OutOfBounds>,
}

/// An index beyond the end of its array, which may lead to something all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfBounds {
    /// The index.
    pub index: u64,
    /// The last one that the array has.
    pub last: u64,
}

/// Why a path leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// A bracket is not closed.
    #[error("no trailing ']'")]
    OpenBracket,
    /// A parenthesis is not closed.
    #[error("no trailing ')'")]
    OpenParenthesis,
    /// No path goes on so.
    #[error("'{0}' is not a valid delimiter")]
    Delimiter(char),
    /// A pointer on the way cannot be read, which lies at this address.
    #[error("could not dereference pointer {0:x}")]
    Dereference(Addr),
    /// An index or a cast makes no sense.
    #[error("{0}")]
    Word(String),
    /// A delimiter has nothing behind it.
    #[error("no member behind '{0}'")]
    NoName(&'static str),
    /// A container has no such key.
    #[error("no key {0}")]
    NoKey(String),
    /// A container has no such element: the index, and the last one that there is.
    #[error("index {} is outside of container bounds [0 .. {}]", .0, .1)]
    Beyond(u64, u64),
    /// A container has no element at all.
    #[error("index {} of an empty container", .0)]
    Empty(u64),
    /// Strings have no elements in paths: the type of one.
    #[error(
        "cannot index into the text of {0}: -r shows its members, one of which leads to the characters"
    )]
    Text(String),
    /// An optional or a variant holds no value: what it is instead.
    #[error("{0} holds no value")]
    HoldsNothing(String),
    /// A class declares a variable that no module has: its name.
    #[error("{0} is declared, and where it lies is not known")]
    Undefined(String),
    /// A smart pointer owns nothing, or nothing that has a known type: its own type.
    #[error("{0} cannot be dereferenced: it is no owner, or the type of what it owns is not known")]
    Unowned(String),
    /// A range ends before it begins.
    #[error("{0} is not a range")]
    Range(String),
    /// It is longer, or leads to more, than anybody means.
    #[error("more than {0}")]
    Limit(&'static str),
    /// A step of it is impossible.
    #[error(transparent)]
    Object(#[from] ObjectError),
}

pub(crate) use containers::{element, has_entries};
pub use walk::Walker as PathWalker;
pub(crate) use walk::is_reference;
