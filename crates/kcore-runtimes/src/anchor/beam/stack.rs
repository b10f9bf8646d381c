//! The stack of an Erlang process (`erts/emulator/beam/beam_common.c`, `erl_process.h`, OTP 25 to 27, without frame
//! pointers): terms, whose last two bits are not both zero, and return addresses, which are aligned to four bytes.

use kcore_mem::Addr;
use kcore_unwind::{Machine, Regs};

use super::{RSP, is_made};
use crate::Host;

/// Words of a frame, at most: 1024 registers, and return addresses of pieces of code that functions share.
const MAX_FRAME: u64 = 1040;
/// The bits of a word that are zero in return addresses alone.
const TAG: u64 = 3;

/// The stack of an Erlang process, from its stack pointer on.
pub struct Stack<'a> {
    host: &'a dyn Host,
    machine: &'a dyn Machine,
    sp: Addr,
}

impl<'a> Stack<'a> {
    /// The stack that a thread runs on, unless it is its own: there the registers of the virtual machine lie, above all
    /// frames.
    pub fn of(
        host: &'a dyn Host,
        machine: &'a dyn Machine,
        registers: Addr,
        regs: &Regs,
    ) -> Option<Self> {
        let sp = Addr::new(regs.get(RSP)?);
        let own = host.range_at(registers)?.range;
        let is_own = own.contains(sp) && sp <= registers;
        (!is_own && sp.get().is_multiple_of(8)).then_some(Self { host, machine, sp })
    }

    /// The return address of the innermost frame, and where it lies. One on top of the stack may be of a piece of code
    /// that functions share, and is not aligned. Of `ends`, what a process returns to when it ends, no call is before.
    pub fn return_address(&self, ends: &[Addr]) -> Option<(Addr, Addr)> {
        let held = self.host.space().read_held(self.sp, MAX_FRAME.checked_mul(8)?);
        let words = held.as_chunks().0.iter().map(|word| Addr::new(u64::from_le_bytes(*word)));
        let mut words = (0..).zip(words);
        let is_return = |(index, word): &(u64, Addr)| {
            let is_aligned = *index == 0 || word.get() & TAG == 0;
            is_aligned && (ends.contains(word) || self.is_behind_call(*word))
        };
        let (index, pc) = words.find(is_return)?;
        Some((self.sp.checked_add(index.checked_mul(8)?)?, pc))
    }

    fn is_behind_call(&self, pc: Addr) -> bool {
        is_made(pc, self.host) && self.machine.follows_call(pc, self.host.space())
    }
}
