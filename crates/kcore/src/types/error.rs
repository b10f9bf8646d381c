//! Why a name is none of a type.

use kcore_symbols::TypeError;

/// Why there is no type for what a user typed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TypeLookupError {
    /// Nothing describes a type of that name.
    #[error("no type found corresponding to name")]
    NotFound,
    /// No module, or not the one that was named, has debug information.
    #[error("no symbolic debug information available for module")]
    NoDebugInfo,
    /// There is no module of the name before the backquote.
    #[error("unknown object file name")]
    UnknownModule,
    /// There is a type of the name that a new one is to have.
    #[error("{0} already exists")]
    Exists(String),
    /// It reads like no type.
    #[error("syntax error near '{0}'")]
    Syntax(String),
    /// It ends where more must follow.
    #[error("syntax error at the end")]
    Unfinished,
    /// It is too long or too deeply nested to be one.
    #[error("more than {0}")]
    Limit(&'static str),
    /// A structure cannot be laid out.
    #[error("{0} has no size")]
    NoSize(String),
    /// The debug information of the type is damaged.
    #[error(transparent)]
    Damaged(#[from] TypeError),
}
