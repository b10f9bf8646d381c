//! A frame: small, and honest about how it was found.

use kcore_mem::{Addr, CodeAddr};

/// How a frame was found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Trust {
    /// The registers as the core saved them.
    Context,
    /// Call frame information.
    Cfi,
    /// The rule of the runtime that made the code.
    Runtime,
    /// The registers that a signal frame saved.
    Signal,
    /// The return address on top of the stack, after a call to where there is no code.
    NullCall,
    /// The code was read, and all its paths agree.
    Code,
    /// Some reading of the instructions before or behind the pc.
    Prologue,
    /// The chain of frame pointers, in code that is known to keep one.
    FramePointer,
    /// The calls that debug information tells of: it ended by a jump to the function of the frame that it called,
    /// and nothing of it is on the stack.
    TailCall,
    /// The chain of frame pointers, in code that is not known to keep one: a guess, which leaves out the functions
    /// that keep none.
    UncheckedFramePointer,
    /// A word on the stack that looks like a return address: a guess.
    Scan,
}

impl Trust {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Cfi => "cfi",
            Self::Runtime => "runtime",
            Self::Signal => "signal",
            Self::NullCall => "null_call",
            Self::Code => "code",
            Self::Prologue => "prologue",
            Self::FramePointer => "frame_pointer",
            Self::TailCall => "tail_call",
            Self::UncheckedFramePointer => "unchecked_frame_pointer",
            Self::Scan => "scan",
        }
    }

    /// Whether what is found so is a guess. Output must mark it, and all that follows from it: see [`Frame::guess`].
    pub const fn is_guess(self) -> bool {
        matches!(self, Self::Scan | Self::UncheckedFramePointer)
    }
}

/// One activation of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Where it runs, or will return to.
    pub pc: CodeAddr,
    /// Its stack pointer.
    pub sp: Option<Addr>,
    /// Its canonical frame address: the stack pointer of its caller before the call.
    pub cfa: Option<Addr>,
    /// Where its frame pointer points, or, on a machine whose frame pointers tell the CFA, would.
    pub frame_pointer: Option<Addr>,
    /// How it was found.
    pub trust: Trust,
    /// Whether it is a guess, or was found from one.
    pub guess: bool,
    /// Whether it is the code to which a signal handler returns, no function that was called.
    pub signal_trampoline: bool,
    /// Whether it is known to lie on another stack than the frame that it called: a runtime, or code with split
    /// stacks, went from this one to that one.
    pub on_other_stack: bool,
    /// Whether the call before its return address is known not to lead to the frame that it called: the code there is
    /// read, and no path comes to that. Then unwind information is wrong, or somebody put the return address there.
    /// A walk in place does not look.
    pub calls_elsewhere: bool,
}
