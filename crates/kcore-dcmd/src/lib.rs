//! The contract between dcmds, the shell that runs them, and the sinks that show what they find.
//!
//! A dcmd ([`Dcmd`]) is declared by its [`Spec`], reads its [`Args`], asks the core, and emits
//! typed [`Record`]s through its [`Cx`]. It formats nothing, prints nothing and knows no terminal.
//! A sink ([`Sink`]) turns records into text, JSON or the addresses of a pipe. What only a shell
//! knows (the current thread, the radix, the evaluator) a dcmd reaches through the small trait
//! [`Shell`].

#![warn(clippy::unwrap_used, clippy::expect_used)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod args;
mod calendar;
mod cell;
mod cx;
mod dcmd;
mod declared;
mod dot;
mod error;
mod float;
mod foreign;
mod log;
mod name_scope;
pub mod near;
mod number;
mod piped;
mod private_symbols;
mod record;
mod script_value;
mod settings;
mod sink;
mod spec;
pub mod stack;
mod typed;
pub mod user_file;
mod value_cell;
mod walker;

pub use args::{Arg, Args};
pub use calendar::{civil_time, iso_time};
pub use cell::{Cell, Fields, SymbolCell};
pub use cx::{Cx, Input, MacroCall, Shell, Variable};
pub use dcmd::Dcmd;
pub use declared::{kept_columns, spec_of};
pub use dot::Dot;
pub use error::{DcmdError, Result};
pub use float::{binary_exponential, c_exponential};
pub use foreign::{Foreign, Meaning};
pub use kcore::{
    Dialect, ScriptLabel, ScriptNode, ScriptPart, ScriptParts, ScriptScalar, TextRest,
};
pub use log::{LogRequest, LogState};
pub use name_scope::NameScope;
pub use number::{Digits, digits, prefix, prefixed};
pub use piped::{Bindings, Piped};
pub use private_symbols::{PrivateSymbol, PrivateSymbols};
pub use record::{Align, Column, Message, Record, View};
pub use script_value::{ScriptCell, ScriptStyle};
pub use settings::Settings;
pub use sink::Sink;
pub use spec::{AddrUse, Example, Group, Operands, Opt, Spec};
pub use typed::TypedExpressions;
pub use user_file::io_reason;
pub use value_cell::{Integers, TypeNames, ValueCell, ValueForm, ValueStyle};
pub use walker::{Visit, Walker, WalkerSpec};
