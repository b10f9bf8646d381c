//! What an instruction leaves in a general register.

use capstone::{
    Capstone, Insn, InsnGroupId, InsnGroupType, RegId,
    arch::x86::{X86OpMem, X86Operand, X86OperandType},
};

use super::{name, next, operands};
use crate::register_write::RegisterWrite;

/// Bytes of a whole register.
const WHOLE: u8 = 8;
/// What a function need not preserve: System V ABI for AMD64, section 3.2.1.
const LEFT_BY_CALLS: [&str; 9] = ["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"];
/// Beginnings of names of instructions that only read the last operand.
const READERS: [&str; 3] = ["cmp", "test", "push"];

/// What the instruction leaves in a register, given by its name in 64 bits.
pub fn write_to(capstone: &Capstone, decoded: &Insn<'_>, register: &str) -> Option<RegisterWrite> {
    if is_left_by_call(capstone, decoded, register) {
        return Some(RegisterWrite::Other);
    }
    let operands = operands(capstone, decoded);
    let is_it = |id: RegId| name(capstone, id).is_some_and(|name| wide(&name) == register);
    let mnemonic = decoded.mnemonic().unwrap_or_default();
    let to = operands.last().filter(|_| !reads_alone(mnemonic)).map(|last| &last.op_type);
    let is_last = matches!(to, Some(X86OperandType::Reg(id)) if is_it(*id));
    let detail = capstone.insn_detail(decoded).ok()?;
    if !is_last && !detail.regs_write().iter().any(|id| is_it(*id)) {
        return None;
    }
    let is_move = is_last && matches!(mnemonic, "mov" | "movq");
    let moved = is_move.then(|| moved(capstone, decoded, &operands)).flatten();
    Some(moved.unwrap_or(RegisterWrite::Other))
}

/// Whether the last operand is only read. Of the others it may be written, in AT&T syntax: capstone calls some of them
/// reads.
fn reads_alone(mnemonic: &str) -> bool {
    let begins = READERS.iter().any(|reader| mnemonic.starts_with(reader));
    begins || matches!(mnemonic, "jmp" | "jmpq" | "call" | "callq")
}

/// The source of a move of a whole word into a register.
fn moved(
    capstone: &Capstone,
    decoded: &Insn<'_>,
    operands: &[X86Operand],
) -> Option<RegisterWrite> {
    let [source, to] = operands else { return None };
    if source.size != WHOLE || to.size != WHOLE || !matches!(to.op_type, X86OperandType::Reg(_)) {
        return None;
    }
    match &source.op_type {
        X86OperandType::Reg(id) => Some(RegisterWrite::Copied(name(capstone, *id)?)),
        X86OperandType::Mem(memory) => loaded(capstone, decoded, memory),
        _ => None,
    }
}

fn loaded(capstone: &Capstone, decoded: &Insn<'_>, memory: &X86OpMem) -> Option<RegisterWrite> {
    let is_plain = name(capstone, memory.index()).is_none()
        && !matches!(name(capstone, memory.segment()).as_deref(), Some("fs" | "gs"));
    let base = name(capstone, memory.base()).filter(|_| is_plain)?;
    let displacement = memory.disp();
    Some(match base.as_str() {
        "rip" => RegisterWrite::LoadedFrom(next(decoded).wrapping_offset(displacement)),
        _ => RegisterWrite::Loaded { base, displacement },
    })
}

fn is_left_by_call(capstone: &Capstone, decoded: &Insn<'_>, register: &str) -> bool {
    let Ok(detail) = capstone.insn_detail(decoded) else { return false };
    let call = u8::try_from(InsnGroupType::CS_GRP_CALL).map(InsnGroupId);
    call.is_ok_and(|call| detail.groups().contains(&call)) && LEFT_BY_CALLS.contains(&register)
}

/// The 64-bit register that one of any width is a part of, by its name.
pub fn wide(name: &str) -> String {
    if let Some(number) = name.strip_prefix('r').and_then(|rest| rest.strip_suffix(['d', 'w', 'b']))
    {
        return format!("r{number}");
    }
    match name {
        "al" | "ah" | "ax" | "eax" => "rax".to_owned(),
        "bl" | "bh" | "bx" | "ebx" => "rbx".to_owned(),
        "cl" | "ch" | "cx" | "ecx" => "rcx".to_owned(),
        "dl" | "dh" | "dx" | "edx" => "rdx".to_owned(),
        "sil" | "si" | "esi" => "rsi".to_owned(),
        "dil" | "di" | "edi" => "rdi".to_owned(),
        "bpl" | "bp" | "ebp" => "rbp".to_owned(),
        "spl" | "sp" | "esp" => "rsp".to_owned(),
        wide => wide.to_owned(),
    }
}
