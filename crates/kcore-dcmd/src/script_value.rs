//! Values of script languages as cells: which language it is decides how text spells them ([`kcore::Dialect`]).

use std::borrow::Cow;

use kcore::{Dialect, ScriptNode};

/// A value with how it is to look.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptCell<'a> {
    /// The value.
    pub node: Cow<'a, ScriptNode>,
    /// How text shows it.
    pub style: ScriptStyle,
}

/// How text shows a value of a script language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptStyle {
    /// Whose words and signs are used.
    pub dialect: Dialect,
    /// Whether each value stands behind its address.
    pub addresses: bool,
    /// Blanks before each line but the first.
    pub indent: usize,
}
