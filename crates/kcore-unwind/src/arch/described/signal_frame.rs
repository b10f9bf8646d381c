//! Signal frames: the code that a handler returns to, and the registers saved in its frame.

use kcore_mem::{Addr, AddressSpace, Fault};

use super::Description;
use crate::{RegisterId, Regs, SavedContext, UserRegister};

/// A frame that the kernel put on a stack for the handler of a signal.
pub struct SignalFrame {
    /// The code that returns from the handler, as its bytes lie in memory of the target.
    pub code: &'static [u8],
    /// Where its registers lie, by the stack pointer when the handler has returned.
    pub registers: fn(Addr, &dyn AddressSpace) -> Option<Addr>,
    /// What lies there.
    pub saved: SavedRegisters,
    /// Whether they are those of a `ucontext_t`.
    pub has_context: bool,
    /// Whether registers that are not saved there still have their values.
    pub keeps_others: bool,
}

/// Saved registers: slots of one width in a row. A slot without a name is skipped.
#[derive(Clone, Copy, Debug)]
pub struct SavedRegisters {
    /// Bytes in a slot.
    pub width: u64,
    /// The registers by their names in `pr_reg`.
    pub order: &'static [&'static str],
    /// Registers beside them, by their offset.
    pub beside: &'static [(&'static str, u64)],
}

/// What the `ucontext_t` of a signal frame holds.
#[derive(Clone, Copy, Debug)]
pub struct Ucontext {
    /// The distance of the `siginfo_t` from it, if that is always the same.
    pub signal_info: Option<i64>,
    /// The offset of its registers.
    pub registers: u64,
    /// What lies there.
    pub saved: SavedRegisters,
    /// The offset of the mask of signals.
    pub mask: u64,
    /// The offset of the address of a fault, if it holds one.
    pub fault_address: Option<u64>,
}

impl SignalFrame {
    /// Whether its code stands at `at`.
    pub fn is_at(&self, at: Addr, space: &dyn AddressSpace) -> bool {
        let mut bytes = [0; 16];
        let Some(bytes) = bytes.get_mut(..self.code.len()) else { return false };
        space.read(at, bytes).is_ok() && bytes == self.code
    }
}

impl SavedRegisters {
    /// Offset and name of each.
    fn slots(&self) -> impl Iterator<Item = (u64, &'static str)> {
        let width = usize::try_from(self.width).unwrap_or(8).max(1);
        let named = |(_, name): &(u64, &'static str)| !name.is_empty();
        let ordered = (0_u64..).step_by(width).zip(self.order.iter().copied()).filter(named);
        ordered.chain(self.beside.iter().map(|(name, offset)| (*offset, *name)))
    }

    /// The offset of a register.
    pub fn offset_of(&self, wanted: RegisterId, description: &Description) -> Option<u64> {
        let is_it = |name: &str| description.register(name) == Some(wanted);
        self.slots().find(|(_, name)| is_it(name)).map(|(offset, _)| offset)
    }

    /// The registers that lie at `at`, beside `others`; `None` without a program counter.
    pub fn read(
        &self,
        description: &Description,
        at: Addr,
        others: Option<&Regs>,
        space: &dyn AddressSpace,
    ) -> Option<Regs> {
        let mut regs = others.copied().unwrap_or(Regs::new(Addr::new(0)));
        let mut pc = None;
        for (offset, name) in self.slots() {
            let value = self.value(at.checked_add(offset)?, space);
            if name == description.pc {
                pc = value;
            }
            if let Some(register) = description.register(name) {
                regs.set(register, value);
            }
        }
        regs.set_pc(Addr::new(pc? & description.code_bits));
        Some(regs)
    }

    /// What one slot holds, as a register of the target.
    fn value(&self, at: Addr, space: &dyn AddressSpace) -> Option<u64> {
        let value = space.read_uint(at, usize::try_from(self.width).ok()?).ok()?;
        let size = space.target().register_size();
        // A kernel of 64 bits saves the registers of a program of 32 in slots of 64.
        Some(if size == 4 { value & u64::from(u32::MAX) } else { value })
    }

    /// The registers that lie at `at`, by their names.
    fn named(&self, at: Addr, space: &dyn AddressSpace) -> Result<Vec<UserRegister>, Fault> {
        let read = |(offset, name)| {
            let at = at.checked_add(offset).ok_or(Fault::Unmapped(at))?;
            let value = self.value(at, space).ok_or(Fault::Unmapped(at))?;
            Ok(UserRegister { name, value })
        };
        self.slots().map(read).collect()
    }
}

impl Ucontext {
    /// All that the `ucontext_t` at `context` holds (Linux `include/uapi/asm-generic/ucontext.h`): flags, link,
    /// stack, then what differs from machine to machine.
    pub fn saved_context(
        &self,
        context: Addr,
        space: &dyn AddressSpace,
    ) -> Result<SavedContext, Fault> {
        let word = u64::from(space.target().word);
        let at = |offset: u64| context.checked_add(offset).ok_or(Fault::Unmapped(context));
        let nth = |index: u64| space.read_word(at(word.saturating_mul(index))?);
        let fault_address = match self.fault_address {
            Some(offset) => space.read_word(at(offset)?)?,
            None => 0,
        };
        Ok(SavedContext {
            flags: nth(0)?,
            link: Addr::new(nth(1)?),
            stack: Addr::new(nth(2)?),
            stack_flags: u32::try_from(space.read_uint(at(word.saturating_mul(3))?, 4)?)
                .unwrap_or(0),
            stack_size: nth(4)?,
            mask: space.read_uint(at(self.mask)?, 8)?,
            registers: self.saved.named(at(self.registers)?, space)?,
            fault_address: Addr::new(fault_address),
            exception: None,
        })
    }
}
