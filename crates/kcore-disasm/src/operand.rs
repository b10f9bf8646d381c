//! The memory that an instruction spells out, and where a jump takes its target from.

use kcore_mem::{Addr, JumpSource, MemoryOperand};

use crate::Disassembler;

impl Disassembler {
    /// The memory that the instruction at `addr` spells out. `reg` gives registers as in
    /// [`memory_accesses`](Self::memory_accesses); an operand whose address needs an unknown one is left out.
    pub fn memory_operands(
        &self,
        addr: Addr,
        bytes: &[u8],
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<MemoryOperand> {
        let operands = self.with_instruction(addr, bytes, |decoded| {
            self.machine().memory_operands(self.capstone(), decoded, reg)
        });
        operands.unwrap_or_default()
    }

    /// Where the jump or call at `addr` takes the address from that it goes to. `None` if it states the address, if
    /// it is another instruction, and if a register that is needed is not known.
    pub fn jump_source(
        &self,
        addr: Addr,
        bytes: &[u8],
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Option<JumpSource> {
        self.with_instruction(addr, bytes, |decoded| {
            self.machine().jump_source(self.capstone(), decoded, reg)
        })?
    }
}
