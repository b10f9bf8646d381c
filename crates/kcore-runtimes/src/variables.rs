//! The variables of frames of languages.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::{Frame, Regs};

use crate::{Dialect, FrameKind, ScriptNode};

/// A frame of a language whose variables are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameOfLanguage<'a> {
    /// Of which language.
    pub kind: FrameKind,
    /// The runtime's own frame or function object, as it told.
    pub object: Option<Addr>,
    /// Whether it runs in the frame of another function.
    pub inline: bool,
    /// How many functions hold it that run in the same frame: 0 of the one that the machine called.
    pub depth: usize,
    /// The native frame that runs it.
    pub native: Option<&'a Frame>,
    /// The frame that this one called.
    pub callee: Option<&'a Frame>,
    /// The registers of the frame, as far as they are known.
    pub registers: Option<&'a Regs>,
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
