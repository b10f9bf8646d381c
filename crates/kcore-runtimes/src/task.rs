//! Stacks that belong to no thread: coroutines, goroutines, green threads.

use std::{borrow::Cow, sync::Arc};

use kcore_mem::{Addr, AddrRange, CodeAddr, MovedBytes};
use kcore_unwind::{KnownRegs, Tid};

use crate::{LanguageFrame, erlang, tokio::Deadline};

/// A user-mode thread.
#[derive(Clone, Debug)]
pub struct Task {
    /// The runtime's name, as in [`crate::Identity::name`].
    pub runtime: &'static str,
    /// What names it: the address of its control structure, or the runtime's number.
    pub id: u64,
    /// Its name, if it has one.
    pub name: Option<Arc<str>>,
    /// Its state in the runtime's word: `running`, `suspended`.
    pub state: Cow<'static, str>,
    /// What it waits for, if that is known.
    pub waits_on: Option<Arc<str>>,
    /// When that ends at the latest, where a time does it: it sleeps, or has a time limit. It may have passed.
    pub until: Option<Deadline>,
    /// The function that it began with.
    pub entry: Option<Addr>,
    /// The thread that runs it.
    pub thread: Option<Tid>,
    /// The memory that its stack may use, half-open, if it is its own and known. Where its start is [`TaskStart::Kept`], the
    /// part of it that is in use.
    pub stack: Option<AddrRange>,
    /// Where its stack begins.
    pub start: TaskStart,
}

/// Runtimes that count their tasks, and show the number in decimal.
const COUNTING: [&str; 3] = ["go", "java", "tokio"];
/// Numbers from here on are addresses.
const FIRST_ADDRESS: u64 = 1 << 36;

impl Task {
    /// What names it, as people are shown it: a number as its runtime prints it, or an address in hexadecimal.
    pub fn shown_id(&self) -> String {
        if self.runtime == erlang::NAME {
            return erlang::Pid::unpacked(self.id).to_string();
        }
        match COUNTING.contains(&self.runtime) && self.id < FIRST_ADDRESS {
            true => self.id.to_string(),
            false => format!("{:x}", self.id),
        }
    }
}

/// Where the stack of a task begins.
#[derive(Clone, Debug)]
pub enum TaskStart {
    /// It runs: the registers of its thread count.
    Running,
    /// At these registers. The pc of a suspended stack is a return address.
    Suspended {
        /// The registers that were saved, as far as they are known.
        regs: KnownRegs,
        /// The pc, and what kind it is.
        pc: CodeAddr,
        /// The CFA of the outermost frame, where that is known otherwise than by unwinding: behind it lies
        /// what nobody called.
        bottom: Option<Addr>,
    },
    /// At this place, on a stack that other tasks use too: a part of it was moved away meanwhile.
    Moved {
        /// The stack pointer.
        sp: Addr,
        /// The frame pointer, where it is needed. No other register is.
        frame_pointer: Option<Addr>,
        /// The pc, exact.
        pc: Addr,
        /// Where the part is that was moved away.
        moved: MovedBytes,
        /// The address behind which the stack is not its own, if that is known.
        limit: Option<Addr>,
    },
    /// Nowhere in native code: the runtime keeps its frames in objects of its own. These are they, innermost
    /// first.
    Language(Vec<LanguageFrame>),
    /// As of `Language`, of a runtime that may have very many such tasks: it reads them when somebody wants to see them,
    /// by [`crate::Runtime::task_frames`].
    Kept,
    /// Nothing tells, for this reason.
    Unknown(Arc<str>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_and_addresses_are_not() {
        let shown = |runtime, id| {
            let (name, waits_on, until, entry, thread, stack) =
                (None, None, None, None, None, None);
            let (state, start) = ("parked".into(), TaskStart::Kept);
            Task { runtime, id, name, state, waits_on, until, entry, thread, stack, start }
                .shown_id()
        };
        assert_eq!(shown("java", 34), "34");
        assert_eq!(shown("go", 17), "17");
        assert_eq!(shown("greenlet", 34), "22");
        assert_eq!(shown("erlang", 34), "<0.34.0>");
        assert_eq!(shown("tokio", 0x7f00_0000_0010), "7f0000000010");
    }
}
