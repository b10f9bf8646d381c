//! Objects in the memory of a process: what lies at an address, or in registers, read by its type.
//!
//! - An [`Object`] is a [`Type`](kcore_symbols::Type) at a [`ObjectPlace`]. Nothing of it is read until
//!   somebody asks.
//! - A [`Value`] is what was read of one, as a tree that is bounded by [`Limits`].
//! - What the crate needs of the process around them it asks of a [`Process`].
//!
//! Types of standard libraries are shown as what they mean; who knows how is one file and one line in
//! `PRINTERS` (`printers/mod.rs`).

#![warn(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::arithmetic_side_effects
    )
)]

mod absent;
mod calendar;
mod enum_names;
mod eval;
pub mod expression;
mod holes;
mod layout;
mod limits;
pub mod location;
#[cfg(test)]
mod made_process;
mod object;
mod path;
mod place;
mod printers;
mod process;
mod shown;
mod value;

pub use absent::Absent;
pub use calendar::CivilDay;
pub use enum_names::EnumNames;
pub use limits::Limits;
pub use object::{HolderKind, Object, ObjectError};
pub use path::{OutOfBounds, PathEnd, PathError, PathPart, PathWalker, PathWords};
pub use place::{ObjectPlace, Piece, PieceSource};
pub use printers::declared::{
    CustomAction, CustomStep, CustomSteps, DcmdAction, DcmdAddress, DcmdArgument, DcmdColumn,
    DeclaredDcmd, DeclaredPrinter, DeclaredPrinters, DeclaredWalk, DeclaredWalker, HeldExpressions,
    NamedExpression, PrinterExpression, PrinterFile, PrinterFileError, PrinterShape, TypePattern,
    WalkElement, WalkSteps, WalkTrouble, WordTemplate, holds_for_element, over_element,
};
pub use process::{Process, SymbolName};
pub use value::{
    Content, Elements, Entry, EnumValue, Field, FloatValue, Meant, Number, Pointee, Pointer, Text,
    Value, VariantValue, WideFloat,
};
