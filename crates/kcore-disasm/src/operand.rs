//! The memory that an instruction spells out.

use kcore_mem::{Addr, MemoryOperand};

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
}
