//! How an instruction computes an address that it touches.

use crate::Access;

/// A register of an address, and the value that it had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressRegister {
    /// Its name, as gdb has it.
    pub name: String,
    /// Its value before the instruction.
    pub value: u64,
}

/// Where a jump or call takes the address from that it goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JumpSource {
    /// A register holds it.
    Register(AddressRegister),
    /// It is read from memory.
    Memory(MemoryOperand),
}

/// Memory that an instruction touches by an operand that it spells out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryOperand {
    /// What it touches, and how.
    pub access: Access,
    /// The register that the address begins at; `None` of an absolute address.
    pub base: Option<AddressRegister>,
    /// The register that is scaled and added.
    pub index: Option<AddressRegister>,
    /// What is added to both, in bytes.
    pub displacement: i64,
    /// Whether the base of a segment is added too, as in accesses to a thread's own variables.
    pub has_segment: bool,
}
