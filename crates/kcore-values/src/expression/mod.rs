//! Expressions of C and C++ over the objects of a process: `conn->len * 2 > limit`, `(char)buf[i + 1]`, `*p@3`.
//!
//! Names lead to objects, and postfix operators are the steps of paths ([`PathWalker`](crate::PathWalker)), so that keys of maps, ranges of
//! elements and members of tuples mean the same in both. What an operator computes is an object too, which lies in no
//! memory. Numbers have the types, and operators the conversions and the precedence, of C; `@` is that of gdb. Nothing is
//! assigned, and no function of the process is called.

mod any_names;
mod arithmetic;
mod basic;
mod compare;
mod error;
mod evaluate;
mod fortran;
mod literal;
mod name;
mod operator;
mod parse;
pub(crate) mod scalar;
#[cfg(test)]
mod tests;
mod tree;

pub use error::{ExpressionError, ExpressionFault};
pub(crate) use scalar::{integer, pointer_to};

use kcore_mem::{Addr, Target};
use kcore_symbols::Type;

use crate::{Number, Object, PathEnd, PathWords, Process, expression::scalar::Scalar};

/// What the names in an expression mean to whoever typed it.
pub trait ExpressionNames: PathWords {
    /// The variable, or else the function, of this name.
    fn object(&self, name: &str) -> Option<Object>;

    /// The value of an enumeration that has this name.
    ///
    /// # Errors
    /// What it may be, where enumerations have the name for several values.
    fn enumerator(&self, _name: &str) -> Result<Option<Object>, Vec<String>> {
        Ok(None)
    }

    /// The register of this name, without its dollar sign.
    fn register(&self, name: &str) -> Option<Object>;

    /// The current address: what `.` is.
    fn dot(&self) -> Addr;
}

/// A word of the machine, as a register holds it: an unsigned integer that lies in no memory.
pub fn word(value: u64, target: Target) -> Object {
    let size = u32::from(target.word).saturating_mul(8);
    scalar::integer(target, &Number { bits: u128::from(value), size, signed: false })
}

/// A value of an enumeration: an object that lies in no memory.
pub fn enumerator(ty: &Type, value: i128, target: Target) -> Object {
    scalar::of_bits(target, ty.clone(), value.cast_unsigned())
}

/// An object as a word: a number with its sign, or where a pointer points to; `None` of anything else.
pub(crate) fn word_of(process: &dyn Process, object: &Object) -> Option<u64> {
    match Scalar::of(process, object).ok()?? {
        Scalar::Integer(number) => number.extended(64).cut(64).unsigned(),
        Scalar::Pointer(at, _) => Some(at.get()),
        Scalar::Float(..) => None,
    }
}

/// Whether a text may be an expression, whatever the names in it mean.
///
/// # Errors
/// When it can be none; with the column.
pub fn check(text: &str) -> Result<(), ExpressionError> {
    parse::check(text)
}

/// What an expression gives: one object, or several where it has a range of indices.
///
/// # Errors
/// When it is no expression, or has no value; with the column.
pub fn evaluate(
    process: &dyn Process,
    names: &dyn ExpressionNames,
    text: &str,
) -> Result<PathEnd, ExpressionError> {
    let tree = parse::parse(text, names)?;
    evaluate::Evaluation::new(process, names, text).whole(&tree)
}
