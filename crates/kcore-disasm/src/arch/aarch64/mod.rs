//! aarch64.

mod references;
mod register_write;

use capstone::{
    Capstone, CsResult, Insn, RegId,
    arch::arm64::{ArchMode, Arm64OpMem, Arm64Operand, Arm64OperandType, Arm64Shift},
    prelude::*,
};
use kcore_mem::{Access, AccessKind, Addr, AddrRange, AddressRegister, JumpSource, MemoryOperand};

use crate::{Reference, arch::Machine, register_write::RegisterWrite};

/// The machine.
pub struct Aarch64;

impl Machine for Aarch64 {
    fn open(&self) -> CsResult<Capstone> {
        Capstone::new().arm64().mode(ArchMode::Arm).detail(true).build()
    }

    fn shortest(&self) -> usize {
        4
    }

    fn longest(&self) -> usize {
        4
    }

    fn junk_word(&self) -> &'static str {
        ".inst"
    }

    fn is_unconditional(&self, mnemonic: &str) -> bool {
        mnemonic == "b" || mnemonic.starts_with("br")
    }

    fn is_trap(&self, mnemonic: &str) -> bool {
        matches!(mnemonic, "brk" | "udf" | "hlt")
    }

    fn target(&self, capstone: &Capstone, decoded: &Insn<'_>) -> Option<Addr> {
        last_number(&operands(capstone, decoded))
    }

    fn reference(&self, capstone: &Capstone, decoded: &Insn<'_>) -> Option<Addr> {
        let operands = operands(capstone, decoded);
        let mnemonic = decoded.mnemonic()?;
        let memory =
            operands.iter().any(|operand| matches!(operand.op_type, Arm64OperandType::Mem(_)));
        let literal = mnemonic.starts_with("ldr") && !memory;
        (literal || matches!(mnemonic, "adr" | "adrp")).then(|| last_number(&operands)).flatten()
    }

    fn accesses(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<Access> {
        let operands = operands(capstone, decoded);
        let mnemonic = decoded.mnemonic().unwrap_or_default();
        let Some(kind) = access_kind(mnemonic) else { return Vec::new() };
        let size = access_size(capstone, mnemonic, &operands);
        let post_indexed = decoded.op_str().is_some_and(|text| text.contains("],"));
        let literal = self.reference(capstone, decoded);
        let addr = operands.iter().find_map(|operand| match &operand.op_type {
            Arm64OperandType::Mem(memory) => {
                effective_address(capstone, memory, operand, post_indexed, reg)
            }
            _ => None,
        });
        addr.or(literal).map(|addr| Access { addr, size, kind }).into_iter().collect()
    }

    fn memory_operands(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<MemoryOperand> {
        let accesses = self.accesses(capstone, decoded, reg);
        let memory = operands(capstone, decoded).into_iter().find_map(|it| match it.op_type {
            Arm64OperandType::Mem(memory) => Some(memory),
            _ => None,
        });
        let register = |id| address_register(capstone, id, reg);
        let operand = memory.zip(accesses.first()).map(|(memory, access)| MemoryOperand {
            access: *access,
            base: register(memory.base()),
            index: register(memory.index()),
            displacement: memory.disp().into(),
            has_segment: false,
        });
        operand.into_iter().collect()
    }

    fn jump_source(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Option<JumpSource> {
        // br and blr, and their forms that check a pointer authentication code.
        let mnemonic = decoded.mnemonic().unwrap_or_default();
        let is_indirect = mnemonic.starts_with("br") || mnemonic.starts_with("blr");
        let operands = operands(capstone, decoded);
        match operands.first().filter(|_| is_indirect && mnemonic != "brk")?.op_type {
            Arm64OperandType::Reg(id) => {
                address_register(capstone, id, reg).map(JumpSource::Register)
            }
            _ => None,
        }
    }

    fn write_to(
        &self,
        capstone: &Capstone,
        decoded: &Insn<'_>,
        register: &str,
    ) -> Option<RegisterWrite> {
        register_write::write_to(capstone, decoded, register)
    }

    /// Nothing is quicker than to look.
    fn may_refer(&self, _addr: Addr, _code: &[u8], _wanted: AddrRange) -> bool {
        true
    }

    fn references(
        &self,
        _capstone: &Capstone,
        addr: Addr,
        code: &[u8],
        wanted: &[AddrRange],
    ) -> Vec<Reference> {
        references::references(addr, code, wanted)
    }
}

/// Base + index + displacement, modulo 2^64. A post-index displacement is added later.
fn effective_address(
    capstone: &Capstone,
    memory: &Arm64OpMem,
    operand: &Arm64Operand,
    post_indexed: bool,
    reg: &dyn Fn(&str) -> Option<u64>,
) -> Option<Addr> {
    let base = value(capstone, memory.base(), reg)?;
    let index = value(capstone, memory.index(), reg)?;
    let shift = match operand.shift {
        Arm64Shift::Lsl(bits) => bits,
        _ => 0,
    };
    let index = index.checked_shl(shift).unwrap_or(0);
    let displacement = if post_indexed { 0 } else { i64::from(memory.disp()) };
    Some(Addr::new(base.wrapping_add(index)).wrapping_offset(displacement))
}

/// A register of an address; `None` for none.
fn address_register(
    capstone: &Capstone,
    id: RegId,
    reg: &dyn Fn(&str) -> Option<u64>,
) -> Option<AddressRegister> {
    let name = (id != RegId::INVALID_REG).then(|| capstone.reg_name(id)).flatten()?;
    Some(AddressRegister { value: value(capstone, id, reg)?, name })
}

/// The value of a register; 0 for none. The 32-bit ones are halves of the others.
fn value(capstone: &Capstone, id: RegId, reg: &dyn Fn(&str) -> Option<u64>) -> Option<u64> {
    if id == RegId::INVALID_REG {
        return Some(0);
    }
    let name = capstone.reg_name(id)?;
    match name.as_str() {
        "xzr" | "wzr" => Some(0),
        "fp" => reg("x29"),
        "lr" => reg("x30"),
        name => match name.strip_prefix('w') {
            Some(number) => reg(&format!("x{number}")).map(|value| value & 0xffff_ffff),
            None => reg(name),
        },
    }
}

/// What an instruction of this name does to memory.
fn access_kind(mnemonic: &str) -> Option<AccessKind> {
    const ATOMIC: [&str; 12] = [
        "ldadd", "ldclr", "ldeor", "ldset", "ldsmax", "ldsmin", "ldumax", "ldumin", "swp", "cas",
        "stadd", "stset",
    ];
    if ATOMIC.iter().any(|atomic| mnemonic.starts_with(atomic)) {
        Some(AccessKind::ReadWrite)
    } else if mnemonic.starts_with("ld") {
        Some(AccessKind::Read)
    } else if mnemonic.starts_with("st") {
        Some(AccessKind::Write)
    } else {
        None
    }
}

/// Bytes that an instruction reads or writes: by the letter at the end of its name, or the size of
/// its registers.
fn access_size(capstone: &Capstone, mnemonic: &str, operands: &[Arm64Operand]) -> u64 {
    let register = operands.iter().find_map(|operand| match operand.op_type {
        Arm64OperandType::Reg(id) => capstone.reg_name(id),
        _ => None,
    });
    let register_size = match register.as_deref().and_then(|name| name.chars().next()) {
        Some('w' | 's') => 4,
        Some('q' | 'v') => 16,
        Some('h') => 2,
        Some('b') => 1,
        _ => 8,
    };
    let pair = mnemonic.starts_with("ldp")
        || mnemonic.starts_with("stp")
        || mnemonic.starts_with("ldnp")
        || mnemonic.starts_with("stnp");
    match mnemonic {
        _ if mnemonic.ends_with("sw") => 4,
        _ if mnemonic.ends_with('b') => 1,
        _ if mnemonic.ends_with('h') => 2,
        _ if pair => u64::saturating_mul(register_size, 2),
        _ => register_size,
    }
}

fn last_number(operands: &[Arm64Operand]) -> Option<Addr> {
    operands.iter().rev().find_map(|operand| match operand.op_type {
        Arm64OperandType::Imm(number) => Some(Addr::new(number.cast_unsigned())),
        _ => None,
    })
}

/// The operands of branches, loads, stores and address computations. Those of others are not asked
/// for: capstone makes enumerations of the numbers of system registers and prefetches, and not every
/// number that an instruction can hold is one of their values.
fn operands(capstone: &Capstone, decoded: &Insn<'_>) -> Vec<Arm64Operand> {
    const ASKED: [&str; 8] = ["b", "cb", "tb", "adr", "ld", "st", "swp", "cas"];
    let mnemonic = decoded.mnemonic().unwrap_or_default();
    if !ASKED.iter().any(|asked| mnemonic.starts_with(asked)) {
        return Vec::new();
    }
    let Ok(detail) = capstone.insn_detail(decoded) else { return Vec::new() };
    let detail = detail.arch_detail();
    detail.arm64().map(|detail| detail.operands().collect()).unwrap_or_default()
}
