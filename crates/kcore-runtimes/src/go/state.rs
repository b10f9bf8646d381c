//! What goroutines do, and what they wait for (`runtime/runtime2.go`, `runtime/traceback.go`).

/// The state of a goroutine that has not ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// It was just made.
    Idle,
    /// It waits for a thread.
    Runnable,
    /// It runs Go code.
    Running,
    /// It is in a system call, or in C.
    SystemCall,
    /// It waits for something of Go's.
    Waiting,
    /// Its stack is being moved.
    CopyStack,
    /// It was stopped in its way, for the garbage collector above all.
    Preempted,
    /// The garbage collector found out that nobody will ever wake it.
    Leaked,
    /// What no version that is known calls anything.
    Unknown(u32),
}

/// A bit that says that the garbage collector looks at the stack.
const SCANNED: u32 = 0x1000;
/// Ended goroutines, which are kept for others; the second kind waits for a call of C.
const ENDED: [u32; 2] = [6, 11];

impl State {
    /// The words for all states that are known.
    pub const WORDS: [&str; 8] = [
        Self::Idle.as_str(),
        Self::Runnable.as_str(),
        Self::Running.as_str(),
        Self::SystemCall.as_str(),
        Self::Waiting.as_str(),
        Self::CopyStack.as_str(),
        Self::Preempted.as_str(),
        Self::Leaked.as_str(),
    ];

    /// What `atomicstatus` says; `None` of a goroutine that has ended.
    pub fn of(status: u32) -> Option<Self> {
        let status = status & !SCANNED;
        (!ENDED.contains(&status)).then_some(match status {
            0 => Self::Idle,
            1 => Self::Runnable,
            2 => Self::Running,
            3 => Self::SystemCall,
            4 => Self::Waiting,
            8 => Self::CopyStack,
            9 => Self::Preempted,
            10 => Self::Leaked,
            other => Self::Unknown(other),
        })
    }

    /// Go's word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Runnable => "runnable",
            Self::Running => "running",
            Self::SystemCall => "syscall",
            Self::Waiting => "waiting",
            Self::CopyStack => "copystack",
            Self::Preempted => "preempted",
            Self::Leaked => "leaked",
            Self::Unknown(_) => "unknown",
        }
    }

    /// Whether the runtime says what it waits for.
    pub const fn has_reason(self) -> bool {
        matches!(self, Self::Waiting | Self::Leaked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_goroutines_have_no_state() {
        assert_eq!([State::of(6), State::of(0x1006), State::of(11)], [None; 3]);
        assert_eq!(State::of(0x1004), Some(State::Waiting));
        assert_eq!(State::of(7), Some(State::Unknown(7)));
    }
}
