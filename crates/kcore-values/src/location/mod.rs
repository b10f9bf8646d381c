//! Where a variable lies in a frame: DWARF expressions, evaluated with the registers and the memory that
//! the frame had (version 5, 2.5 and 2.6, and the GNU extensions of version 4).
//!
//! - [`FrameContext`] is what an expression may ask for; whoever walked the stack implements it.
//! - `evaluate` runs one expression, `answer` gives it what it asks for.
//!   `typed` adds conversions that compilers leave out.
//! - `entry_value` asks the caller what it passed, `pieces` makes a `ObjectPlace` of the
//!   result, `parts` does so piece by piece, `pointer` follows pointers to what was optimized away.
//! - `bytes` turns numbers into the bytes that they have in memory.
//!
//! Expressions come from a file that may lie: each may do so many operations and ask so many questions,
//! and each evaluation inside of another counts.

mod answer;
mod bytes;
mod context;
mod entry_value;
mod evaluate;
mod parts;
mod pieces;
mod pointer;
mod typed;

pub use context::{Call, FrameContext};

use kcore_symbols::{Expression, Type, VariableLocation};

use crate::{Absent, ObjectPlace};
use evaluate::{Budget, Evaluator};

/// Where a variable of type `ty` lies in a frame.
///
/// # Errors
/// When it lies nowhere, or what says where is damaged or depends on what the core lacks.
pub fn place_of(
    location: &VariableLocation,
    ty: &Type,
    frame: &dyn FrameContext,
) -> Result<ObjectPlace, Absent> {
    Evaluator::new(frame, &Budget::default()).place(location, ty)
}

/// The address or number that an expression gives in a frame: a frame base, the target of a call, the
/// bound of an array.
///
/// # Errors
/// As [`place_of`].
pub fn number_of(expression: &Expression, frame: &dyn FrameContext) -> Result<u64, Absent> {
    Evaluator::new(frame, &Budget::default()).number(expression)
}

#[cfg(test)]
mod tests;
