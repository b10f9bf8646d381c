//! Instructions: what the one that faulted did.

#[cfg(not(feature = "disassembly"))]
mod no_disassembler;

#[cfg(feature = "disassembly")]
use kcore_disasm::Disassembler;
use kcore_mem::{Access, AccessKind, Addr, JumpSource, MemoryOperand};
#[cfg(not(feature = "disassembly"))]
use no_disassembler::Disassembler;

use crate::{Core, CrashView, Tid, UserRegister};

/// Longest instruction of any known architecture, in bytes.
const MAX_INSTRUCTION: usize = 16;

impl CrashView<'_> {
    /// Whether the instruction at which a thread stands reads, writes or executes `fault`; `None`
    /// when that cannot be told from the instruction. Without the feature `disassembly` only an instruction
    /// that could not be fetched is known to be one that executes.
    pub fn access(self, tid: Tid, fault: Addr) -> Option<AccessKind> {
        let pc = self.core.registers().of_thread(tid)?.pc();
        self.core.access_of_instruction(pc, &self.core.registers().user(tid), fault)
    }
}

impl Core {
    /// The same for an instruction and the values that registers had.
    pub(crate) fn access_of_instruction(
        &self,
        pc: Addr,
        registers: &[UserRegister],
        fault: Addr,
    ) -> Option<AccessKind> {
        if pc == fault {
            return Some(AccessKind::Execute);
        }
        let (bytes, read) = self.instruction(pc);
        let disassembler = Disassembler::new(self.target()).ok()?;
        let value = |name: &str| value_of(registers, name);
        disassembler.explain_fault(pc, bytes.get(..read)?, &value, Some(fault))
    }

    /// What an instruction reads and writes with these values of registers.
    pub(crate) fn accesses_of_instruction(
        &self,
        pc: Addr,
        registers: &[UserRegister],
    ) -> Vec<Access> {
        let (bytes, read) = self.instruction(pc);
        let Ok(disassembler) = Disassembler::new(self.target()) else { return Vec::new() };
        let value = |name: &str| value_of(registers, name);
        disassembler.memory_accesses(pc, bytes.get(..read).unwrap_or_default(), &value)
    }

    /// The memory that the operands of an instruction spell out, with these values of registers.
    pub(crate) fn operands_of_instruction(
        &self,
        pc: Addr,
        registers: &[UserRegister],
    ) -> Vec<MemoryOperand> {
        let (bytes, read) = self.instruction(pc);
        let Ok(disassembler) = Disassembler::new(self.target()) else { return Vec::new() };
        let value = |name: &str| value_of(registers, name);
        disassembler.memory_operands(pc, bytes.get(..read).unwrap_or_default(), &value)
    }

    /// Where the jump or call at `pc` takes its target from, with these values of registers.
    pub(crate) fn jump_source(&self, pc: Addr, registers: &[UserRegister]) -> Option<JumpSource> {
        let (bytes, read) = self.instruction(pc);
        let disassembler = Disassembler::new(self.target()).ok()?;
        let value = |name: &str| value_of(registers, name);
        disassembler.jump_source(pc, bytes.get(..read)?, &value)
    }

    /// What the instruction at `pc` is called.
    pub(crate) fn mnemonic(&self, pc: Addr) -> Option<String> {
        let (bytes, read) = self.instruction(pc);
        Disassembler::new(self.target()).ok()?.mnemonic(pc, bytes.get(..read)?)
    }

    /// The bytes of an instruction and those behind it, and how many there are.
    fn instruction(&self, pc: Addr) -> ([u8; MAX_INSTRUCTION], usize) {
        let mut bytes = [0; MAX_INSTRUCTION];
        let (read, _) = self.space().read_partial(pc, &mut bytes);
        (bytes, read)
    }
}

fn value_of(registers: &[UserRegister], name: &str) -> Option<u64> {
    registers.iter().find(|register| register.name == name).map(|register| register.value)
}
