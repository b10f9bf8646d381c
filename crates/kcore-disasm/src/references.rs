//! Which instructions refer to an address: as what they jump to, read, write, or compute.

use kcore_mem::{Addr, AddrRange};

use crate::Disassembler;

/// An instruction, and an address that it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Where the instruction lies.
    pub from: Addr,
    /// The address: the target of a jump, an operand in memory, an immediate number.
    pub to: Addr,
}

impl Disassembler {
    /// The instructions of `code`, which lies at `addr`, that refer to an address in one of the
    /// ranges, in their order. What is no instruction is stepped over. Code that cannot refer to any
    /// of them is not decoded, so this takes little longer than reading it.
    pub fn references(&self, addr: Addr, code: &[u8], wanted: &[AddrRange]) -> Vec<Reference> {
        let may_refer = |wanted: &&AddrRange| self.machine().may_refer(addr, code, **wanted);
        let wanted: Vec<_> = wanted.iter().filter(may_refer).copied().collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        self.machine().references(self.capstone(), addr, code, &wanted)
    }
}
