//! What an instruction computes of registers, and loads by what it computes.

use capstone::{
    Capstone, Insn, RegId,
    arch::x86::{X86OpMem, X86Operand, X86OperandType},
};

use super::{name, next, operands, register_write::wide};
use crate::computation::{Computation, RegisterSum};

/// Bytes of a whole register, and of its lower half: writing to that clears the upper one.
const WHOLE: u8 = 8;
const HALF: u8 = 4;

/// What the instruction computes for a register, given by its name in 64 bits.
pub fn computation(capstone: &Capstone, decoded: &Insn<'_>, register: &str) -> Option<Computation> {
    let code = Code { capstone, decoded, operands: operands(capstone, decoded) };
    let mnemonic = decoded.mnemonic()?;
    // It extends `eax`, and names no register.
    if mnemonic == "cltq" {
        let from = "rax".to_owned();
        return (register == from).then_some(Computation::Extended { from, is_signed: true });
    }
    (wide(&code.register(code.operands.last()?)?) == register).then_some(())?;
    match mnemonic {
        "mov" | "movq" => code.moved(WHOLE, WHOLE, false),
        "movl" => code.moved(HALF, HALF, false),
        "movslq" => code.moved(HALF, WHOLE, true),
        "lea" | "leaq" => code.address(),
        "add" | "addq" => code.added(),
        "shl" | "shlq" | "sal" | "salq" => code.shifted(),
        "imul" | "imulq" => code.multiplied(),
        _ => None,
    }
}

/// Where the instruction moves a whole register to in memory, and which register.
pub fn stored_register(capstone: &Capstone, decoded: &Insn<'_>) -> Option<(RegisterSum, String)> {
    let code = Code { capstone, decoded, operands: operands(capstone, decoded) };
    let [source, target] = code.operands.as_slice() else { return None };
    let X86OperandType::Mem(memory) = &target.op_type else { return None };
    let is_move = matches!(decoded.mnemonic()?, "mov" | "movq") && source.size == WHOLE;
    Some((code.sum(memory)?, code.whole(source).filter(|_| is_move)?))
}

/// An instruction with its operands; the last one is written to.
struct Code<'a> {
    capstone: &'a Capstone,
    decoded: &'a Insn<'a>,
    operands: Vec<X86Operand>,
}

impl Code<'_> {
    /// A move of `from` bytes into a register of `to`.
    fn moved(&self, from: u8, to: u8, is_signed: bool) -> Option<Computation> {
        let [source, target] = self.operands.as_slice() else { return None };
        (source.size == from && target.size == to).then_some(())?;
        match &source.op_type {
            X86OperandType::Mem(memory) => {
                Some(Computation::Loaded { at: self.sum(memory)?, size: from, is_signed })
            }
            X86OperandType::Reg(_) if from == WHOLE => {
                let base = Some(self.register(source)?);
                Some(Computation::Sum(RegisterSum { base, ..RegisterSum::default() }))
            }
            X86OperandType::Reg(_) => {
                Some(Computation::Extended { from: wide(&self.register(source)?), is_signed })
            }
            _ => None,
        }
    }

    fn address(&self) -> Option<Computation> {
        let [source, target] = self.operands.as_slice() else { return None };
        let X86OperandType::Mem(memory) = &source.op_type else { return None };
        let is_whole = target.size == WHOLE;
        is_whole.then(|| self.sum(memory))?.map(Computation::Sum)
    }

    fn added(&self) -> Option<Computation> {
        let [source, target] = self.operands.as_slice() else { return None };
        let base = Some(self.whole(target)?);
        let (index, displacement) = match source.op_type {
            X86OperandType::Reg(_) => (Some((self.whole(source)?, 1)), 0),
            X86OperandType::Imm(number) => (None, number),
            _ => return None,
        };
        Some(Computation::Sum(RegisterSum { base, index, displacement }))
    }

    fn shifted(&self) -> Option<Computation> {
        let [by, target] = self.operands.as_slice() else { return None };
        let by = 1_u64.checked_shl(u32::try_from(number(by)?).ok()?)?;
        Some(Computation::Multiplied { from: self.whole(target)?, by })
    }

    fn multiplied(&self) -> Option<Computation> {
        let (by, from) = match self.operands.as_slice() {
            [by, target] => (by, target),
            [by, from, _] => (by, from),
            _ => return None,
        };
        Some(Computation::Multiplied { from: self.whole(from)?, by: number(by)?.cast_unsigned() })
    }

    /// The sum of an operand's address; `None` of one with a segment, or of registers of another width.
    fn sum(&self, memory: &X86OpMem) -> Option<RegisterSum> {
        if matches!(self.name(memory.segment()).as_deref(), Some("fs" | "gs")) {
            return None;
        }
        let (base, index) = (self.part(memory.base())?, self.part(memory.index())?);
        let index = index.zip(u64::try_from(memory.scale()).ok());
        if base.as_deref() == Some("rip") {
            let at = next(self.decoded).wrapping_offset(memory.disp());
            return Some(RegisterSum { base: None, index, displacement: at.get().cast_signed() });
        }
        Some(RegisterSum { base, index, displacement: memory.disp() })
    }

    /// A register of an address, if there is one; the outer `None` of one that is not whole.
    fn part(&self, id: RegId) -> Option<Option<String>> {
        match self.name(id) {
            None => Some(None),
            Some(name) if matches!(name.as_str(), "riz" | "eiz") => Some(None),
            Some(name) => (wide(&name) == name).then_some(Some(name)),
        }
    }

    fn whole(&self, operand: &X86Operand) -> Option<String> {
        self.register(operand).filter(|name| wide(name) == *name)
    }

    fn register(&self, operand: &X86Operand) -> Option<String> {
        match operand.op_type {
            X86OperandType::Reg(id) => self.name(id),
            _ => None,
        }
    }

    fn name(&self, id: RegId) -> Option<String> {
        name(self.capstone, id)
    }
}

const fn number(operand: &X86Operand) -> Option<i64> {
    match operand.op_type {
        X86OperandType::Imm(number) => Some(number),
        _ => None,
    }
}
