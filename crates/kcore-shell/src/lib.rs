//! The MDB language: parser, session and interactive shell.
//!
//! A line becomes statements (`lexer`, `literal`, `quote`, `expr`, `words`, `statement`, `parse`). A
//! statement is run on a [`Session`]: `eval` and `scope` for its expressions, `exec` and `pipeline`
//! for its stages, `invoke` for each dcmd, `foreign` for lines of other debuggers, `shell_command` behind a `!`, `macros` for text within
//! text; `shell_view` is the session as dcmds see it. Lines come from a terminal ([`repl`]), a script
//! ([`script`]) or a text ([`Session::eval`]).
//!
//! This crate knows no dcmd: it is handed them, and runs them by the contract of `kcore-dcmd`. It
//! shows nothing itself: what dcmds emit goes to a [`Sink`](kcore_dcmd::Sink).

#![warn(clippy::unwrap_used, clippy::expect_used)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod complete;
mod dcmd_table;
mod declared;
mod error;
mod eval;
mod exec;
mod expr;
#[cfg(test)]
mod expr_round_trip;
mod foreign;
mod invoke;
mod lexer;
mod limits;
mod literal;
mod log;
mod macros;
mod parse;
mod pipeline;
mod printers;
mod quote;
mod reading;
pub mod repl;
mod scope;
pub mod script;
mod session;
mod shell_command;
mod shell_view;
mod statement;
mod status;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod textual;
mod vars;
mod words;

pub use session::{Session, SessionOptions, Source};
pub use status::{Status, Stop};
