//! The variables of frames of languages.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Frame;

use crate::{Dialect, FrameKind, ScriptNode};

/// A frame of a language whose variables are asked for.
#[derive(Clone, Copy, Debug)]
pub struct FrameOfLanguage<'a> {
    /// Of which language.
    pub kind: FrameKind,
    /// The runtime's own frame or function object, as it told.
    pub object: Option<Addr>,
    /// Whether it runs in the frame of another function.
    pub inline: bool,
    /// The native frame that runs it.
    pub native: Option<&'a Frame>,
}

/// How much is told of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableLimits {
    /// Whether locals are told beside arguments.
    pub locals: bool,
    /// Objects inside of each other.
    pub depth: u32,
    /// Parts of one object.
    pub entries: u64,
    /// Characters or bytes of one text.
    pub characters: u64,
}

/// The variables of a frame of a language.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptVariables {
    /// The language whose spelling their values have.
    pub dialect: Dialect,
    /// They: arguments in their order, then locals.
    pub variables: Vec<ScriptVariable>,
}

/// A variable of a frame of a language.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptVariable {
    /// What it is called.
    pub name: Arc<str>,
    /// Whether it is an argument.
    pub is_argument: bool,
    /// What it says.
    pub value: ScriptNode,
}
