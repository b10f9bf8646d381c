//! References of x86-64 code: targets of jumps, memory relative to `rip` or at an absolute address,
//! and immediate numbers.

use capstone::{Capstone, Insn, arch::x86::X86OperandType};
use kcore_mem::{Addr, AddrRange};

use super::{name, next, operands};
use crate::Reference;

/// Bytes that may follow a displacement within its instruction: an immediate number of at most four.
const MAX_TAIL: u64 = 4;
/// How far a jump with a displacement of one byte goes.
const SHORT: u64 = 0x80;
/// Numbers below this fit into two bytes, and stand everywhere.
const SMALL: u64 = 0x1_0000;

/// Whether an instruction of `code`, whatever its bytes are taken for, may refer to the range. Every
/// reference that is not a short jump holds four bytes which tell.
pub fn may_refer(addr: Addr, code: &[u8], wanted: AddrRange) -> bool {
    let near = AddrRange::new(
        Addr::new(wanted.start.get().saturating_sub(SHORT)),
        wanted.end.saturating_add(SHORT),
    );
    let own = AddrRange::with_len(addr, code.len() as u64);
    if wanted.start.get() < SMALL || own.intersection(&near).is_some() {
        return true;
    }
    let len = wanted.len();
    let holds = |at: u64| at.wrapping_sub(wanted.start.get()) < len;
    // Where the displacement ends the instruction, or stands before its immediate number.
    let first = wanted.start.get().wrapping_sub(MAX_TAIL);
    let holds_relative = |at: u64| at.wrapping_sub(first) < len.saturating_add(MAX_TAIL);
    let mut behind = addr.get().wrapping_add(4);
    code.windows(4).any(|bytes| {
        let number = i32::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default());
        let relative = behind.wrapping_add_signed(i64::from(number));
        behind = behind.wrapping_add(1);
        holds_relative(relative)
            || holds(i64::from(number).cast_unsigned())
            || holds(u64::from(number.cast_unsigned()))
    }) || code
        .windows(8)
        .any(|bytes| holds(u64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default())))
}

/// The references of `code` to the ranges.
pub fn references(
    capstone: &Capstone,
    addr: Addr,
    code: &[u8],
    wanted: &[AddrRange],
) -> Vec<Reference> {
    let mut found = Vec::new();
    let (mut at, mut rest) = (addr, code);
    while !rest.is_empty() {
        let decoded = decode_run(capstone, at, rest, wanted, &mut found);
        // What is no instruction is one byte.
        let step = decoded.saturating_add(1);
        rest = rest.get(step..).unwrap_or_default();
        at = at.saturating_add(step as u64);
    }
    found
}

/// Decodes until bytes are no instruction; answers how many were decoded.
fn decode_run(
    capstone: &Capstone,
    at: Addr,
    code: &[u8],
    wanted: &[AddrRange],
    found: &mut Vec<Reference>,
) -> usize {
    let Ok(mut instructions) = capstone.disasm_iter(code, at.get()) else { return code.len() };
    let mut len: usize = 0;
    while let Some(decoded) = instructions.next() {
        let from = Addr::new(decoded.address());
        let to = referred(capstone, &decoded);
        let to = to.into_iter().filter(|to| wanted.iter().any(|range| range.contains(*to)));
        let all = to.map(|to| Reference { from, to });
        all.for_each(|reference| {
            if found.last() != Some(&reference) {
                found.push(reference);
            }
        });
        len = len.saturating_add(decoded.len());
    }
    len
}

/// The addresses that an instruction may refer to.
fn referred(capstone: &Capstone, decoded: &Insn<'_>) -> Vec<Addr> {
    let of_operand = |operand: &X86OperandType| match operand {
        X86OperandType::Imm(number) => Some(Addr::new(number.cast_unsigned())),
        X86OperandType::Mem(memory) => match name(capstone, memory.base()).as_deref() {
            Some("rip") => Some(next(decoded).wrapping_offset(memory.disp())),
            _ => Some(Addr::new(memory.disp().cast_unsigned())),
        },
        _ => None,
    };
    let operands = operands(capstone, decoded);
    operands.iter().filter_map(|operand| of_operand(&operand.op_type)).collect()
}
