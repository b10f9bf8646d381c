//! The caller that a path of the code leads to.

use kcore_mem::{Addr, AddressSpace};

use super::{state::MAX_PRESERVED, value::Value};
use crate::{Machine, RegisterId, Regs};

/// Where the caller's registers are to be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub(super) pc: Value,
    pub(super) sp: Value,
    pub(super) preserved: [Value; MAX_PRESERVED],
}

impl Outcome {
    /// Whether the caller can be found by it.
    pub(super) const fn is_useful(&self) -> bool {
        self.pc.can_be_found() && self.sp.can_be_found()
    }

    /// Whether another path leads to the same caller.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        self.pc == other.pc && self.sp == other.sp
    }

    /// Forgets the registers about which another path to the same caller says something else.
    pub(super) fn merge(&mut self, other: &Self) {
        for (own, theirs) in self.preserved.iter_mut().zip(other.preserved) {
            if *own != theirs {
                *own = Value::UNKNOWN;
            }
        }
    }

    /// The caller's registers and the CFA.
    pub fn caller(
        &self,
        regs: &Regs,
        machine: &dyn Machine,
        space: &dyn AddressSpace,
    ) -> Option<(Regs, Addr)> {
        let pc = self.pc.find(regs, space)?;
        let sp = self.sp.find(regs, space)?;
        let mut caller = Regs::new(machine.strip_code(Addr::new(pc)));
        for (number, value) in machine.preserved().iter().zip(self.preserved) {
            caller.set(RegisterId(*number), value.find(regs, space));
        }
        caller.set(machine.stack_pointer(), Some(sp));
        Some((caller, Addr::new(sp)))
    }
}
