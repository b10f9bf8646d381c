//! Why an expression has no value.

use crate::{ObjectError, PathError};

/// Why an expression has no value, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {fault}")]
pub struct ExpressionError {
    /// The character at which the trouble begins; the first is 1.
    pub column: usize,
    /// What it is.
    pub fault: ExpressionFault,
}

/// What is wrong with an expression. Types are named as C spells them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExpressionFault {
    /// Something else has to stand there: what, and what stands there.
    #[error("expected {0}, found {1}")]
    Expected(&'static str, String),
    /// A literal is none: why.
    #[error("{0}")]
    Literal(&'static str),
    /// It is longer, or more is nested in it, than anybody means.
    #[error("more than {0}")]
    Limit(&'static str),
    /// Nothing has this name.
    #[error("no variable, function or type has the name '{0}'")]
    Name(String),
    /// Several enumerations have the name, for different values: each as it may be written, with its value.
    #[error("'{0}' may be {1}")]
    Ambiguous(String, String),
    /// The machine, or the frame, has no such register.
    #[error("no register '${0}' is known here")]
    Register(String),
    /// A core cannot be changed, and nothing runs in it.
    #[error("{0} is not possible: the process does not run")]
    Runs(&'static str),
    /// An operator takes no operand of this type: the operator and the type.
    #[error("'{0}' takes no operand of type {1}")]
    Operand(&'static str, String),
    /// An operator takes no two operands of these types.
    #[error("'{0}' takes no operands of types {1} and {2}")]
    Operands(&'static str, String, String),
    /// A type has no size that anybody knows.
    #[error("the size of {0} is not known")]
    Size(String),
    /// A value has no address: it lies in a register, in a few bits, or was computed.
    #[error("it has no address")]
    NoAddress,
    /// A quotient by 0.
    #[error("division by zero")]
    DivisionByZero,
    /// A shift by a negative number of bits, or by more than there are.
    #[error("a shift of {0} bits by {1}")]
    Shift(u32, i128),
    /// The number of elements behind `@` is none.
    #[error("an array of {0} elements")]
    Count(i128),
    /// A range of indices stands where one value is needed.
    #[error("a range of elements is no operand")]
    Several,
    /// A member, an element or a target is not there.
    #[error(transparent)]
    Path(#[from] PathError),
}

impl From<ObjectError> for ExpressionFault {
    fn from(error: ObjectError) -> Self {
        Self::Path(error.into())
    }
}
