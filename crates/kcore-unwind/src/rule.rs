//! Steps that somebody else knows: those out of code which a runtime made.

use kcore_mem::{Addr, CodeAddr};

use crate::{Regs, Tid};

/// When a rule is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Before call frame information: for code whose information is wrong, or leads to a stack that
    /// the runtime left.
    BeforeCfi,
    /// After it, for code that has none; before the code is followed and anything guessed.
    AfterCfi,
    /// After the code was followed, whose paths do not agree; before anything is guessed.
    AfterCode,
}

/// The frame that a rule is asked about.
#[derive(Clone, Copy, Debug)]
pub struct RuleFrame<'a> {
    /// The thread whose stack it is; `None` on a stack that no thread runs on.
    pub thread: Option<Tid>,
    /// Where it runs, or will return to.
    pub pc: CodeAddr,
    /// Its registers, as far as they are known.
    pub regs: &'a Regs,
}

/// What a rule says of a frame.
#[derive(Clone, Copy, Debug)]
pub enum RuleStep {
    /// It was called by the frame whose registers are now in `caller`.
    Caller {
        /// The CFA of the frame that was left: the stack pointer of its caller.
        cfa: Addr,
        /// Whether the caller's pc is exact, because it was interrupted or switched away from and
        /// did not call. It may lie on any stack.
        interrupted: bool,
    },
    /// As [`RuleStep::Caller`], where the rule knows that the caller stands on another stack than the frame: that may lie
    /// anywhere, in the same mapping too.
    Elsewhere {
        /// The stack pointer of the caller.
        cfa: Addr,
        /// As there.
        interrupted: bool,
    },
    /// As [`RuleStep::Caller`], by what the rule cannot prove.
    Guess {
        /// The CFA of the frame that was left: the stack pointer of its caller.
        cfa: Addr,
    },
    /// It is the outermost one.
    Outermost {
        /// Its CFA, if that is known.
        cfa: Option<Addr>,
    },
}

/// Knows how to step out of some code. Implemented by whoever knows runtimes.
pub trait StepRule: Sync {
    /// The step out of `frame`; `None` when it is not this rule's. `caller` becomes the registers of
    /// the caller, its program counter among them, as far as they are known; it has no meaning before.
    fn step(&self, phase: Phase, frame: &RuleFrame<'_>, caller: &mut Regs) -> Option<RuleStep>;
}
