//! Why a type cannot be told.

use crate::{
    DieId,
    meter::{EXHAUSTED, HALTED},
};

/// What is wrong with a type in debug information.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeError {
    /// There is no such entry.
    NoEntry(DieId),
    /// The entry is there, and no type.
    NotAType(DieId),
    /// The debug information is damaged there.
    Damaged(DieId, gimli::Error),
    /// The type is made of itself.
    Endless(String),
    /// The type is an alias of an alias, and so on, beyond what is followed: so many.
    TooDeep(String, usize),
    /// The type was never completed.
    Incomplete,
    /// To find out, more entries would be read than one command may, or the command has to end.
    Exhausted,
}

impl TypeError {
    /// Why the entry at `id` could not be read.
    pub(crate) const fn reading(id: DieId, error: gimli::Error) -> Self {
        match error {
            EXHAUSTED | HALTED => Self::Exhausted,
            error => Self::Damaged(id, error),
        }
    }
}

impl std::fmt::Display for TypeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoEntry(id) => write!(f, "debug information has no entry at {id}"),
            Self::NotAType(id) => write!(f, "the entry of debug information at {id} is no type"),
            Self::Damaged(id, why) => write!(f, "debug information at {id} is damaged: {why}"),
            Self::Incomplete => write!(f, "the type is incomplete"),
            Self::Exhausted => {
                write!(f, "more entries of debug information would be read than the command may")
            }
            Self::TooDeep(name, most) => {
                write!(f, "type {name} is an alias of more than {most} others")
            }
            Self::Endless(name) => write!(f, "type {name} is made of itself"),
        }
    }
}

impl std::error::Error for TypeError {}
