//! Functions of Go's runtime that stacks go through otherwise than by a call (`runtime/asm_amd64.s`,
//! `runtime/sys_linux_amd64.s`, `runtime/preempt_amd64.s`, `runtime/race_amd64.s`, `runtime/cgo/asm_amd64.s`, Go 1.19 to 1.27).

use super::function::Function;

/// What is special about a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing.
    Plain,
    /// A handler put it where the machine had been interrupted: it was not called.
    Injected,
    /// Handlers of signals return to it.
    SignalReturn,
    /// The kernel calls it for a signal, and marks it as what begins a stack.
    SignalEntry,
    /// It runs another function on the stack of the system, and returns.
    SystemStack,
    /// It leaves a goroutine for the stack of the system, and does not return.
    Leaves,
    /// It stands for [`Role::SystemStack`] in what is saved of the goroutine.
    SystemStackMark,
    /// It calls C on the stack of the system.
    CallsC,
    /// It calls the race detector on the stack of the system.
    CallsRace,
    /// C called it, by a function that saves the registers of C, to run Go on the stack of a goroutine.
    CalledByC,
    /// C called it, and it saved the registers of C.
    FromC,
    /// The race detector called it, and it saved the registers of C.
    FromRace,
    /// It makes panics, and what calls it is shown though the compiler made it.
    Panics,
    /// It begins a thread, on the stack of the system. C may have called it, where it made the thread.
    BeginsThread,
    /// It begins a stack.
    Outermost,
}

impl Role {
    /// Whether C called the function.
    pub const fn is_from_c(self) -> bool {
        matches!(self, Self::FromC | Self::FromRace)
    }

    /// That of a function.
    pub fn of(function: &Function, name: Option<&str>) -> Self {
        let runtime = name.and_then(|name| name.strip_prefix("runtime."));
        if name == Some("crosscall2") {
            return Self::FromC;
        }
        match runtime.map(|name| name.trim_end_matches(".abi0")) {
            Some("sigpanic" | "asyncPreempt" | "debugCallV2" | "sigpanic0") => Self::Injected,
            Some("sigreturn" | "sigreturn__sigaction") => Self::SignalReturn,
            Some("sigtramp" | "cgoSigtramp") => Self::SignalEntry,
            Some("systemstack") => Self::SystemStack,
            Some("mcall" | "morestack") => Self::Leaves,
            Some("systemstack_switch") => Self::SystemStackMark,
            Some("asmcgocall") => Self::CallsC,
            Some("cgocallback") => Self::CalledByC,
            Some("racecallbackthunk") => Self::FromRace,
            Some("mstart") => Self::BeginsThread,
            Some("gopanic" | "panicwrap") => Self::Panics,
            // `racecall<>`, which has no package.
            _ if name == Some("racecall") => Self::CallsRace,
            _ if function.is_top() => Self::Outermost,
            _ => Self::Plain,
        }
    }
}
