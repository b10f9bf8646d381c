//! Types by the names that people type.
//!
//! A name is read as C and C++ declare types ([`parser`]), with the names in it looked up one by one. What
//! is none is looked for as debug information spells it: so types of Rust and Go are found. Types that
//! the session made ([`SessionTypes`]) come first; the basic types of C exist where no module describes
//! them ([`basic`]).

mod basic;
mod declare;
mod enumerators;
mod error;
mod layout;
mod lexer;
mod lookup;
mod others;
mod parser;
mod session;
mod words;

pub use basic::DataModel;
pub use error::TypeLookupError;
pub use session::{SessionType, SessionTypes};

use crate::{CodeScope, Core};

/// Questions about types by their names: see [`Core::types`].
#[derive(Clone, Copy)]
pub struct Types<'c> {
    core: &'c Core,
    /// The code in which names are used.
    from: Option<CodeScope>,
}

impl Types<'_> {
    /// The same for names that are used in code: its blocks count first, then its unit, then its module.
    #[must_use]
    pub const fn seen_from(self, from: Option<CodeScope>) -> Self {
        Self { from, ..self }
    }
}

impl Core {
    /// The types that its modules describe.
    pub const fn types(&self) -> Types<'_> {
        Types { core: self, from: None }
    }
}
