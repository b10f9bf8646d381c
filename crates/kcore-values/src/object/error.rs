//! Why one does not get from one object to another.

use kcore_symbols::TypeError;

use crate::Absent;

/// Why one does not get from one object to another. Types are named as C spells them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// What is not a pointer leads nowhere.
    #[error("{0} is not a pointer type")]
    NotAPointer(String),
    /// It has no members.
    #[error("{0} is not a struct or union type")]
    NotComposite(String),
    /// It has no such member.
    #[error("failed to find member {member} of {of}")]
    NoMember {
        /// The member's name.
        member: String,
        /// The type.
        of: String,
    },
    /// It is another variant than one that has such a member.
    #[error("failed to find member {member} of {of}: it is {variant}")]
    OtherVariant {
        /// The member's name.
        member: String,
        /// The type.
        of: String,
        /// The variant that the object is.
        variant: String,
    },
    /// A type is only declared, in every module.
    #[error("{0} is only declared")]
    Declared(String),
    /// It is a part of itself, which debug information can claim and no compiler makes.
    #[error("the debug information is damaged: it says that {0} has itself as a member")]
    HoldsItself(String),
    /// `void *` leads to bytes of no type.
    #[error("cannot dereference void type")]
    Void,
    /// It has no elements: its type.
    #[error("cannot index into non-array, non-pointer type {0}")]
    NotIndexable(String),
    /// A pointer to it leads to no other elements: it is only declared, or a function.
    #[error("the size of {0} is not known")]
    Sizeless(String),
    /// Nobody knows how big the elements are, or the address lies beyond all memory.
    #[error("element {0} lies nowhere")]
    Nowhere(i64),
    /// It is no number.
    #[error("{0} is not an integer type")]
    NotANumber(String),
    /// The type cannot be read.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// What had to be read on the way is not there.
    #[error(transparent)]
    Absent(#[from] Absent),
}

impl From<kcore_mem::Fault> for ObjectError {
    fn from(fault: kcore_mem::Fault) -> Self {
        Self::Absent(fault.into())
    }
}
