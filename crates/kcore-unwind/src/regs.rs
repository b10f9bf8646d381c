//! The registers of one frame, as far as they are known.

use kcore_mem::Addr;

/// A register by its DWARF number on the target's architecture, or where that is too high by the one that
/// [`crate::register_of_dwarf`] gives it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct RegisterId(pub u16);

/// General registers, by DWARF number, and the program counter.
///
/// A register that a frame did not save is unknown, and stays unknown. What an inner frame left in it
/// is remembered apart, for the CFAs of assembly with calling conventions of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Regs {
    pc: Addr,
    known: u64,
    /// Those whose values are what inner frames left in them.
    left: u64,
    values: [u64; Self::COUNT],
}

impl Regs {
    /// Numbers below this are kept: x86-64 needs 17, aarch64 35. Machines that number what a walk needs above have
    /// it below 36 as well, see [`crate::register_of_dwarf`].
    pub const COUNT: usize = 36;

    /// Registers of which only the program counter is known.
    pub const fn new(pc: Addr) -> Self {
        Self { pc, known: 0, left: 0, values: [0; Self::COUNT] }
    }

    /// The program counter.
    pub const fn pc(&self) -> Addr {
        self.pc
    }

    /// The same registers at another program counter.
    #[must_use]
    pub const fn with_pc(mut self, pc: Addr) -> Self {
        self.pc = pc;
        self
    }

    /// Moves to another program counter.
    pub const fn set_pc(&mut self, pc: Addr) {
        self.pc = pc;
    }

    /// The value of a register, `None` when it is unknown or not kept.
    pub fn get(&self, register: RegisterId) -> Option<u64> {
        let value = self.values.get(usize::from(register.0))?;
        (self.known & bit(register) != 0).then_some(*value)
    }

    /// Sets a register, or makes it unknown. Registers that are not kept are ignored.
    pub fn set(&mut self, register: RegisterId, value: Option<u64>) {
        let Some(slot) = self.values.get_mut(usize::from(register.0)) else { return };
        match value {
            Some(value) => {
                *slot = value;
                self.left &= !bit(register);
                self.known |= bit(register);
            }
            None => {
                *slot = 0;
                self.left &= !bit(register);
                self.known &= !bit(register);
            }
        }
    }

    /// Makes a register unknown that a callee need not preserve, and remembers what the callee left
    /// in it.
    pub(crate) fn forget(&mut self, register: RegisterId) {
        self.left |= self.known & bit(register);
        self.known &= !bit(register);
    }

    /// What inner frames left in a register that they need not preserve. It is what the frame itself
    /// had there only if they are known to have preserved it all the same.
    pub(crate) fn left_by_callee(&self, register: RegisterId) -> Option<u64> {
        let value = self.values.get(usize::from(register.0))?;
        (self.left & bit(register) != 0).then_some(*value)
    }
}

const fn bit(register: RegisterId) -> u64 {
    match 1_u64.checked_shl(register.0 as u32) {
        Some(bit) => bit,
        None => 0,
    }
}

/// The registers of one frame that are known, in no more memory than they need: there may be a million stacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownRegs {
    pc: Addr,
    values: Box<[(RegisterId, u64)]>,
}

impl KnownRegs {
    /// The program counter.
    pub const fn pc(&self) -> Addr {
        self.pc
    }

    /// The value of a register, `None` when it is unknown.
    pub fn get(&self, register: RegisterId) -> Option<u64> {
        self.values.iter().find(|(known, _)| *known == register).map(|(_, value)| *value)
    }
}

impl From<&Regs> for KnownRegs {
    fn from(regs: &Regs) -> Self {
        let all = (0..Regs::COUNT as u16).map(RegisterId);
        let values = all.filter_map(|register| Some((register, regs.get(register)?))).collect();
        Self { pc: regs.pc(), values }
    }
}

impl From<&KnownRegs> for Regs {
    fn from(known: &KnownRegs) -> Self {
        let mut regs = Self::new(known.pc);
        known.values.iter().for_each(|(register, value)| regs.set(*register, Some(*value)));
        regs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_register_is_not_zero() {
        let mut regs = Regs::new(Addr::new(1));
        assert_eq!(regs.get(RegisterId(7)), None);
        regs.set(RegisterId(7), Some(0));
        assert_eq!(regs.get(RegisterId(7)), Some(0));
        regs.set(RegisterId(7), None);
        assert_eq!(regs.get(RegisterId(7)), None);
    }

    #[test]
    fn what_a_callee_left_in_a_register_is_not_its_value() {
        let mut regs = Regs::new(Addr::new(1));
        regs.set(RegisterId(0), Some(7));
        regs.forget(RegisterId(0));
        regs.forget(RegisterId(1));
        assert_eq!((regs.get(RegisterId(0)), regs.left_by_callee(RegisterId(0))), (None, Some(7)));
        assert_eq!(regs.left_by_callee(RegisterId(1)), None, "it was never known");
        regs.forget(RegisterId(0));
        assert_eq!(regs.left_by_callee(RegisterId(0)), Some(7), "in the next frame too");
        regs.set(RegisterId(0), None);
        assert_eq!(regs.left_by_callee(RegisterId(0)), None);
    }

    #[test]
    fn what_is_known_is_kept() {
        let mut regs = Regs::new(Addr::new(0x10));
        regs.set(RegisterId(7), Some(0));
        regs.set(RegisterId(35), Some(9));
        let known = KnownRegs::from(&regs);
        assert_eq!((known.get(RegisterId(35)), known.get(RegisterId(6))), (Some(9), None));
        assert_eq!((known.pc(), Regs::from(&known)), (Addr::new(0x10), regs));
    }

    #[test]
    fn registers_that_are_not_kept_are_unknown_whatever_is_set() {
        let mut regs = Regs::new(Addr::new(1));
        for number in [36, 63, 64, 1000] {
            regs.set(RegisterId(number), Some(5));
            assert_eq!(regs.get(RegisterId(number)), None);
        }
    }
}
