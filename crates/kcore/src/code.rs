//! Instructions: what the one that faulted did.

use kcore_disasm::Disassembler;
use kcore_mem::Addr;

use crate::{Core, Tid};

pub use kcore_disasm::AccessKind;

/// Longest instruction of any known architecture, in bytes.
const MAX_INSTRUCTION: usize = 16;

impl Core {
    /// Whether the instruction at which a thread stands reads, writes or executes `fault`; `None`
    /// when that cannot be told from the instruction.
    pub fn access_at_fault(&self, tid: Tid, fault: Addr) -> Option<AccessKind> {
        let pc = self.start_registers(tid)?.pc();
        if pc == fault {
            return Some(AccessKind::Execute);
        }
        let mut bytes = [0; MAX_INSTRUCTION];
        let (read, _) = self.space().read_partial(pc, &mut bytes);
        let registers = self.user_registers(tid);
        let value = |name: &str| {
            let found = registers.iter().find(|register| register.name == name);
            found.map(|register| register.value)
        };
        let disassembler = Disassembler::new(self.target()).ok()?;
        disassembler.explain_fault(pc, bytes.get(..read)?, &value, Some(fault))
    }
}
