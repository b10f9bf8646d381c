//! x86-64, in AT&T syntax.

mod computation;
mod direction;
mod memory;
mod references;
mod register_write;

use capstone::{
    Capstone, CsResult, Insn, RegId,
    arch::x86::{ArchMode, ArchSyntax, X86Operand, X86OperandType},
    prelude::*,
};
use kcore_mem::{Access, Addr, AddrRange, JumpSource, MemoryOperand};

use self::memory::Registers;
use crate::{
    Reference,
    arch::Machine,
    computation::{Computation, RegisterSum},
    register_write::RegisterWrite,
};

/// The machine.
pub struct X86_64;

impl Machine for X86_64 {
    fn open(&self) -> CsResult<Capstone> {
        let builder = Capstone::new().x86().mode(ArchMode::Mode64);
        builder.syntax(ArchSyntax::Att).detail(true).build()
    }

    fn shortest(&self) -> usize {
        1
    }

    fn longest(&self) -> usize {
        15
    }

    fn junk_word(&self) -> &'static str {
        ".byte"
    }

    fn is_unconditional(&self, mnemonic: &str) -> bool {
        mnemonic.split(' ').any(|word| word.starts_with("jmp") || word.starts_with("ljmp"))
    }

    fn is_trap(&self, mnemonic: &str) -> bool {
        matches!(mnemonic, "ud0" | "ud1" | "ud2" | "int3" | "int1" | "hlt")
    }

    fn target(&self, capstone: &Capstone, decoded: &Insn<'_>) -> Option<Addr> {
        operands(capstone, decoded).iter().find_map(|operand| match operand.op_type {
            X86OperandType::Imm(target) => Some(Addr::new(target.cast_unsigned())),
            _ => None,
        })
    }

    fn reference(&self, capstone: &Capstone, decoded: &Insn<'_>) -> Option<Addr> {
        operands(capstone, decoded).iter().find_map(|operand| match &operand.op_type {
            X86OperandType::Mem(memory) if name(capstone, memory.base())? == "rip" => {
                Some(next(decoded).wrapping_offset(memory.disp()))
            }
            _ => None,
        })
    }

    fn accesses(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<Access> {
        let mnemonic = decoded.mnemonic().unwrap_or_default();
        let registers = Registers { capstone, next: next(decoded), reg };
        registers.accesses(mnemonic, &operands(capstone, decoded))
    }

    fn memory_operands(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<MemoryOperand> {
        let mnemonic = decoded.mnemonic().unwrap_or_default();
        let registers = Registers { capstone, next: next(decoded), reg };
        registers.memory_operands(mnemonic, &operands(capstone, decoded))
    }

    fn jump_source(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Option<JumpSource> {
        let mnemonic = decoded.mnemonic().unwrap_or_default();
        let registers = Registers { capstone, next: next(decoded), reg };
        registers.jump_source(mnemonic, &operands(capstone, decoded))
    }

    fn write_to(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        register: &str,
    ) -> Option<RegisterWrite> {
        register_write::write_to(capstone, decoded, register)
    }

    fn computation(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        register: &str,
    ) -> Option<Computation> {
        computation::computation(capstone, decoded, register)
    }

    fn stored_register(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
    ) -> Option<(RegisterSum, String)> {
        computation::stored_register(capstone, decoded)
    }

    fn may_refer(&self, addr: Addr, code: &[u8], wanted: AddrRange) -> bool {
        references::may_refer(addr, code, wanted)
    }

    fn references(
        &self,
        capstone: &Capstone,
        addr: Addr,
        code: &[u8],
        wanted: &[AddrRange],
    ) -> Vec<Reference> {
        references::references(capstone, addr, code, wanted)
    }
}

fn operands(capstone: &Capstone, decoded: &Insn<'_>) -> Vec<X86Operand> {
    let Ok(detail) = capstone.insn_detail(decoded) else { return Vec::new() };
    let detail = detail.arch_detail();
    detail.x86().map(|detail| detail.operands().collect()).unwrap_or_default()
}

fn name(capstone: &Capstone, id: RegId) -> Option<String> {
    (id != RegId::INVALID_REG).then(|| capstone.reg_name(id)).flatten()
}

/// The address after an instruction.
fn next(decoded: &Insn<'_>) -> Addr {
    Addr::new(decoded.address()).saturating_add(decoded.len() as u64)
}
