//! The arguments of a futex call.

use kcore_mem::{Addr, AddressSpace};

use super::{blocked::BlockedCall, word::read32};
use crate::Core;

/// What a thread sleeps on (Linux `include/uapi/linux/futex.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FutexWait {
    /// The word.
    pub word: Addr,
    /// The operation without its flags.
    pub command: u32,
    /// What the word had to hold for the thread to sleep.
    pub expected: u32,
    /// Whether the wait has a limit of time.
    pub has_limit: bool,
    /// What the word holds; `None` if that is not in the core.
    pub value: Option<u32>,
}

pub const WAIT: u32 = 0;
pub const LOCK_PI: u32 = 6;
pub const WAIT_BITSET: u32 = 9;
pub const WAIT_REQUEUE_PI: u32 = 11;
pub const LOCK_PI2: u32 = 13;
/// Operations in which a thread sleeps.
const SLEEPING: [u32; 5] = [WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2];

const COMMAND: u32 = 0x7f;
const PRIVATE: u32 = 0x80;
const REALTIME: u32 = 0x100;

impl FutexWait {
    /// The wait of a thread that is blocked in a call, if that is a futex's.
    pub fn of(core: &Core, call: &BlockedCall) -> Option<Self> {
        let is_futex = call.spelled() == "futex";
        let wait = Self::parse(call, core.space())?;
        (is_futex || (call.is_unknown_restart() && wait.is_evident(call))).then_some(wait)
    }

    fn parse(call: &BlockedCall, space: &dyn AddressSpace) -> Option<Self> {
        let int = |index: usize| Some((call.argument(index)? & u64::from(u32::MAX)) as u32);
        let word = Addr::new(call.argument(0)?);
        let operation = int(1)?;
        let command = operation & COMMAND;
        let is_known = operation & !(COMMAND | PRIVATE | REALTIME) == 0;
        let is_wait = is_known && SLEEPING.contains(&command) && word.get().is_multiple_of(4);
        is_wait.then_some(Self {
            word,
            command,
            expected: int(2)?,
            has_limit: call.argument(3)? != 0,
            value: read32(space, word, 0),
        })
    }

    /// Whether arguments can be those of no other call that the kernel goes on with: the array of `poll` has no
    /// private flag for its length.
    fn is_evident(&self, call: &BlockedCall) -> bool {
        let is_private = call.argument(1).is_some_and(|it| it & u64::from(PRIVATE) != 0);
        is_private && self.value.is_some()
    }

    /// Whether it is a plain wait for a change of the word.
    pub const fn is_plain(&self) -> bool {
        matches!(self.command, WAIT | WAIT_BITSET)
    }

    /// Whether the word still holds what made the thread sleep.
    pub fn is_unchanged(&self) -> bool {
        self.value == Some(self.expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arch::CallRegisters, waits::made_memory::MadeMemory};

    fn call(name: &'static str, arguments: [u64; 4]) -> BlockedCall {
        let [a, b, c, d] = arguments.map(Some);
        let registers = CallRegisters { number: 202, arguments: [a, b, c, d, None, None] };
        BlockedCall { name: Some(name), restarted: None, registers }
    }

    fn parsed(arguments: [u64; 4]) -> Option<FutexWait> {
        FutexWait::parse(&call("futex", arguments), &MadeMemory::default().words32(0x1000, &[2]))
    }

    #[test]
    fn a_wait_is_read_from_its_arguments() {
        let wait = parsed([0x1000, 0x189, 0xffff_ffff_0000_0002, 0]).unwrap();
        assert_eq!((wait.word.get(), wait.command, wait.expected), (0x1000, WAIT_BITSET, 2));
        assert_eq!((wait.value, wait.has_limit), (Some(2), false));
        assert!(wait.is_unchanged() && wait.is_plain());
        assert!(parsed([0x1000, 0x86, 0, 0x7000]).unwrap().has_limit);
        assert_eq!(parsed([0x2000, 0x80, 2, 0]).unwrap().value, None);
    }

    #[test]
    fn what_does_not_sleep_is_no_wait() {
        assert_eq!(parsed([0x1000, 0x81, 2, 0]), None);
        assert_eq!(parsed([0x1002, 0x80, 2, 0]), None);
        assert_eq!(parsed([0x1000, 0x1080, 2, 0]), None);
    }

    #[test]
    fn poll_that_goes_on_is_not_taken_for_a_futex() {
        let restarted = call("restart_syscall", [0x1000, 6, 100, 0]);
        let space = MadeMemory::default().words32(0x1000, &[2]);
        assert!(!FutexWait::parse(&restarted, &space).unwrap().is_evident(&restarted));
        let restarted = call("restart_syscall", [0x1000, 0x89, 2, 0x7000]);
        assert!(FutexWait::parse(&restarted, &space).unwrap().is_evident(&restarted));
    }
}
