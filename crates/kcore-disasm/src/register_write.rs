//! What an instruction leaves in a general register.

use kcore_mem::Addr;

use crate::Disassembler;

/// What a general register holds after an instruction that writes to it. Registers have gdb's names in 64 bits: `rax`,
/// `x0`, `sp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegisterWrite {
    /// The whole value of another register.
    Copied(String),
    /// A whole word from memory, so many bytes behind what another register holds.
    Loaded {
        /// That register; it may be the one that is written.
        base: String,
        /// The bytes.
        displacement: i64,
    },
    /// A whole word from the memory at an address that the instruction states.
    LoadedFrom(Addr),
    /// Something else.
    Other,
}

impl Disassembler {
    /// What the instruction at `addr`, the first of `bytes`, leaves in a general register. `None` if it leaves that
    /// register alone. A call writes to all registers that functions need not preserve.
    pub fn write_to(&self, addr: Addr, bytes: &[u8], register: &str) -> Option<RegisterWrite> {
        self.with_instruction(addr, bytes, |decoded| {
            self.machine().write_to(self.capstone(), decoded, register)
        })?
    }
}
