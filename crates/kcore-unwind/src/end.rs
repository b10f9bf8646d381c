//! Why a walk ended.

use kcore_mem::{Addr, Fault};

/// Why there is no frame after the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum End {
    /// The last frame is the outermost one.
    #[error("outermost frame")]
    Outermost,
    /// The return address of the last frame is not in code: the stack is damaged there.
    #[error("return address {0} is not in code")]
    NotCode(Addr),
    /// The thread ran where no code is, and nothing tells what led there.
    #[error("there is no code at pc {0}, and nothing tells what led there")]
    WildPc(Addr),
    /// Nothing tells how to unwind the code at this address.
    #[error("no way to unwind the code at {0}")]
    NoRule(Addr),
    /// Nothing tells whether the code at this address has a caller: its frame pointer is 0, but it is of no function
    /// that is known.
    #[error(
        "the code at {0} is of no known function, and its frame pointer is 0: it may have callers"
    )]
    UnknownCode(Addr),
    /// Memory that the next step needs has no bytes.
    #[error("{0}")]
    Fault(Fault),
    /// Memory that the next step needs is zeros, and so is all around this address: whoever wrote the
    /// core could not read it.
    #[error("the stack at {0} reads as zeros: its memory is missing")]
    Zeros(Addr),
    /// A register that the next step needs is unknown.
    #[error("register {register} is not known at {at}")]
    UnknownRegister {
        /// Its DWARF number.
        register: u16,
        /// Where the frame runs.
        at: Addr,
    },
    /// The unwind rule at this address cannot be evaluated.
    #[error("the unwind rule at {0} is damaged")]
    BadRule(Addr),
    /// The next frame would not lie above this one: the stack is damaged or goes round.
    #[error("the stack does not advance at {0}")]
    DidNotAdvance(Addr),
    /// Many other threads stand on the stack below this address.
    #[error("the stack below {0} is that of many threads")]
    Overlap(Addr),
    /// The walk was stopped at its limit.
    #[error("stopped after {}", frames(*.0))]
    Limit(usize),
    /// Whoever asked for the frames had enough.
    #[error("stopped")]
    Stopped,
    /// The command had to end before it was known how to unwind the code at this address.
    #[error("the command had to end before the code at {0} could be unwound")]
    Halted(Addr),
    /// The registers of this architecture are not known to the walker.
    #[error("unwinding is not supported for this architecture")]
    Unsupported,
    /// The core holds no usable registers of the thread.
    #[error("the registers of the thread are missing")]
    NoRegisters,
}

fn frames(count: usize) -> String {
    if count == 1 { "1 frame".to_owned() } else { format!("{count} frames") }
}

impl End {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Outermost => "outermost",
            Self::NotCode(_) => "not_code",
            Self::WildPc(_) => "wild_pc",
            Self::NoRule(_) => "no_rule",
            Self::UnknownCode(_) => "unknown_code",
            Self::Fault(Fault::NotDumped(_)) => "not_dumped",
            Self::Fault(Fault::NotCopied(_)) => "not_copied",
            Self::Fault(Fault::Truncated(_)) => "truncated",
            Self::Fault(_) => "unreadable",
            Self::Zeros(_) => "zeros",
            Self::UnknownRegister { .. } => "unknown_register",
            Self::BadRule(_) => "bad_rule",
            Self::DidNotAdvance(_) => "did_not_advance",
            Self::Overlap(_) => "overlap",
            Self::Limit(_) => "limit",
            Self::Stopped => "stopped",
            Self::Halted(_) => "halted",
            Self::Unsupported => "unsupported",
            Self::NoRegisters => "no_registers",
        }
    }

    /// The address that the reason is about.
    pub const fn addr(self) -> Option<Addr> {
        match self {
            Self::NotCode(at)
            | Self::WildPc(at)
            | Self::NoRule(at)
            | Self::UnknownCode(at)
            | Self::Zeros(at)
            | Self::UnknownRegister { at, .. }
            | Self::BadRule(at)
            | Self::DidNotAdvance(at)
            | Self::Overlap(at)
            | Self::Halted(at) => Some(at),
            Self::Fault(fault) => Some(fault.addr()),
            Self::Outermost
            | Self::Limit(_)
            | Self::Stopped
            | Self::Unsupported
            | Self::NoRegisters => None,
        }
    }
}
