//! The disassembler of a build without the feature `disassembly`: there is none for any machine.

use kcore_mem::{Access, AccessKind, Addr, JumpSource, MemoryOperand, Target};

/// Has no values, so whatever is asked of it is never answered.
pub enum Disassembler {}

/// This build has no disassembler.
pub struct NotBuilt;

impl Disassembler {
    pub const fn new(_: Target) -> Result<Self, NotBuilt> {
        Err(NotBuilt)
    }

    pub fn mnemonic(&self, _: Addr, _: &[u8]) -> Option<String> {
        match *self {}
    }

    pub fn memory_accesses(
        &self,
        _: Addr,
        _: &[u8],
        _: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<Access> {
        match *self {}
    }

    pub fn explain_fault(
        &self,
        _: Addr,
        _: &[u8],
        _: &dyn Fn(&str) -> Option<u64>,
        _: Option<Addr>,
    ) -> Option<AccessKind> {
        match *self {}
    }

    pub fn jump_source(
        &self,
        _: Addr,
        _: &[u8],
        _: &dyn Fn(&str) -> Option<u64>,
    ) -> Option<JumpSource> {
        match *self {}
    }

    pub fn memory_operands(
        &self,
        _: Addr,
        _: &[u8],
        _: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<MemoryOperand> {
        match *self {}
    }
}
