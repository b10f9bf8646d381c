//! What differs from machine to machine.

pub mod aarch64;
pub mod plain;
pub mod x86_64;

use capstone::{Capstone, CsResult, Insn};
use kcore_mem::{Access, Addr, AddrRange, JumpSource, MemoryOperand};

use crate::{
    Reference,
    computation::{Computation, RegisterSum},
    register_write::RegisterWrite,
};

/// What the disassembler needs to know of a machine.
pub trait Machine: Sync {
    /// Capstone for this machine, with details.
    fn open(&self) -> CsResult<Capstone>;

    /// Bytes of the shortest instruction.
    fn shortest(&self) -> usize;

    /// Bytes of the longest instruction.
    fn longest(&self) -> usize;

    /// Operands as Capstone writes them, with the names that kcore gives registers.
    fn spelled(&self, operands: &str) -> String {
        operands.to_owned()
    }

    /// The word that stands for bytes that are no instruction.
    fn junk_word(&self) -> &'static str;

    /// Whether the instructions that refer to an address are found.
    fn finds_references(&self) -> bool {
        true
    }

    /// Whether this jump is always taken.
    fn is_unconditional(&self, mnemonic: &str) -> bool;

    /// Whether this instruction stops the program.
    fn is_trap(&self, mnemonic: &str) -> bool;

    /// Where a direct jump or call goes.
    fn target(&self, capstone: &Capstone, decoded: &Insn<'_>) -> Option<Addr>;

    /// The address that an operand states relative to the instruction.
    fn reference(&self, capstone: &Capstone, decoded: &Insn<'_>) -> Option<Addr>;

    /// The accesses to data, given registers by name.
    fn accesses(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<Access>;

    /// The memory that its operands spell out, given registers by name.
    fn memory_operands(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<MemoryOperand>;

    /// Where an indirect jump or call takes its target from, given registers by name.
    fn jump_source(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Option<JumpSource>;

    /// What it leaves in a general register, given by its name in 64 bits.
    fn write_to(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        register: &str,
    ) -> Option<RegisterWrite>;

    /// What it computes for a general register, given by its name in 64 bits.
    fn computation(&self, _: &Capstone, _: &Insn<'_>, _: &str) -> Option<Computation> {
        None
    }

    /// Where it moves a whole general register to, and which.
    fn stored_register(&self, _: &Capstone, _: &Insn<'_>) -> Option<(RegisterSum, String)> {
        None
    }

    /// Whether an instruction of `code`, which lies at `addr`, may refer to the range: false only
    /// where none can.
    fn may_refer(&self, addr: Addr, code: &[u8], wanted: AddrRange) -> bool;

    /// The instructions of `code`, which lies at `addr`, that refer to the ranges.
    fn references(
        &self,
        capstone: &Capstone,
        addr: Addr,
        code: &[u8],
        wanted: &[AddrRange],
    ) -> Vec<Reference>;
}
