//! Effective addresses, and the accesses that an instruction spells out or implies.

use capstone::{
    Capstone, RegId,
    arch::x86::{X86OpMem, X86Operand, X86OperandType},
};
use kcore_mem::{Access, AccessKind, Addr, AddressRegister, JumpSource, MemoryOperand};

use super::{
    direction::{Position, direction},
    name,
};

/// Names of instructions with a memory operand that touch no memory, or never fault on it.
const NO_ACCESS: [&str; 8] = ["lea", "leaw", "leal", "leaq", "nop", "nopw", "nopl", "cldemote"];
/// Bytes that `fxsave` writes.
const FXSAVE_SIZE: u64 = 512;
/// Bytes that `xsave` writes, at most, with all states but the tiles of AMX.
const XSAVE_SIZE: u64 = 4096;

/// The registers, and what is computed from them.
pub struct Registers<'a> {
    /// Names the registers of operands.
    pub capstone: &'a Capstone,
    /// The address after the instruction.
    pub next: Addr,
    /// Values of 64-bit registers by name.
    pub reg: &'a dyn Fn(&str) -> Option<u64>,
}

impl Registers<'_> {
    /// The accesses to data of an instruction; those that it spells out come first.
    pub fn accesses(&self, mnemonic: &str, operands: &[X86Operand]) -> Vec<Access> {
        let name = last_word(mnemonic);
        if touches_nothing(name) {
            return Vec::new();
        }
        let spelled_out = self.memory_operands(mnemonic, operands).into_iter();
        spelled_out.map(|operand| operand.access).chain(self.stack_access(name)).collect()
    }

    /// The memory that the operands of an instruction spell out.
    pub fn memory_operands(&self, mnemonic: &str, operands: &[X86Operand]) -> Vec<MemoryOperand> {
        if touches_nothing(last_word(mnemonic)) {
            return Vec::new();
        }
        let only = operands.len() == 1;
        // A mask follows what it masks: `vmovdqu8 %zmm16,(%rax){%k1}`.
        let moves_mask = mnemonic.starts_with("kmov");
        let last = operands.iter().rposition(|operand| moves_mask || !self.is_mask(operand));
        let positions = (0..).map(|position| Position { last: Some(position) == last, only });
        let spelled_out = operands.iter().zip(positions).filter_map(|(operand, position)| {
            let X86OperandType::Mem(memory) = &operand.op_type else { return None };
            let size = self.size(mnemonic, operand);
            let kind = direction(mnemonic, operand.access, position);
            let access = Access { addr: self.effective_address(memory)?, size, kind };
            let (base, index) = (self.register(memory.base()), self.register(memory.index()));
            let has_segment = self.segment(memory).is_some();
            Some(MemoryOperand { access, base, index, displacement: memory.disp(), has_segment })
        });
        spelled_out.collect()
    }

    /// Where an indirect jump or call takes its target from.
    pub fn jump_source(&self, mnemonic: &str, operands: &[X86Operand]) -> Option<JumpSource> {
        let jumps = ["jmp", "call"].iter().any(|name| last_word(mnemonic).starts_with(name));
        match operands.first().filter(|_| jumps)?.op_type {
            X86OperandType::Reg(id) => self.register(id).map(JumpSource::Register),
            X86OperandType::Mem(_) => {
                self.memory_operands(mnemonic, operands).pop().map(JumpSource::Memory)
            }
            _ => None,
        }
    }

    fn is_mask(&self, operand: &X86Operand) -> bool {
        let X86OperandType::Reg(id) = operand.op_type else { return false };
        let name = name(self.capstone, id).unwrap_or_default();
        name.strip_prefix('k').is_some_and(|number| number.parse::<u8>().is_ok())
    }

    /// A register of an address; `None` for none, and for one that is always 0.
    fn register(&self, id: RegId) -> Option<AddressRegister> {
        let name =
            name(self.capstone, id).filter(|name| !matches!(name.as_str(), "riz" | "eiz"))?;
        Some(AddressRegister { value: self.value(id)?, name })
    }

    /// Bytes that an operand has. A repeated string instruction goes on for `rcx` elements;
    /// registers tell how far it has come.
    fn size(&self, mnemonic: &str, operand: &X86Operand) -> u64 {
        let size = u64::from(operand.size.max(1));
        if mnemonic.starts_with("rep") {
            return size.saturating_mul((self.reg)("rcx").unwrap_or(1).max(1));
        }
        if mnemonic.starts_with("fx") {
            return FXSAVE_SIZE;
        }
        let whole_state = mnemonic.starts_with("xsave") || mnemonic.starts_with("xrstor");
        if whole_state { XSAVE_SIZE } else { size }
    }

    /// Segment base + base + index * scale + displacement, modulo 2^64.
    fn effective_address(&self, memory: &X86OpMem) -> Option<Addr> {
        let segment = self.segment(memory).map_or(Some(0), |name| (self.reg)(name))?;
        let base = self.value(memory.base())?;
        let scale = i64::from(memory.scale()).cast_unsigned();
        let index = self.value(memory.index())?.wrapping_mul(scale);
        let address = segment.wrapping_add(base).wrapping_add(index);
        Some(Addr::new(address.wrapping_add(memory.disp().cast_unsigned())))
    }

    /// The register with the base of an operand's segment, if that need not be 0.
    fn segment(&self, memory: &X86OpMem) -> Option<&'static str> {
        match name(self.capstone, memory.segment()).as_deref() {
            Some("fs") => Some("fsbase"),
            Some("gs") => Some("gsbase"),
            _ => None,
        }
    }

    /// The value of a register; 0 for none.
    fn value(&self, id: RegId) -> Option<u64> {
        match name(self.capstone, id).as_deref() {
            None => Some(0),
            Some("riz" | "eiz") => Some(0),
            Some("rip") => Some(self.next.get()),
            Some(name) => self.general(name),
        }
    }

    /// A general register; the 32-bit ones are halves of the others.
    fn general(&self, name: &str) -> Option<u64> {
        let low = |value: u64| value & 0xffff_ffff;
        if let Some(rest) = name.strip_prefix('e') {
            return (self.reg)(&format!("r{rest}")).map(low);
        }
        match name.strip_suffix('d').filter(|_| name.starts_with('r')) {
            Some(wide) => (self.reg)(wide).map(low),
            None => (self.reg)(name),
        }
    }

    /// The access to the stack that an instruction does not spell out.
    fn stack_access(&self, name: &str) -> Option<Access> {
        let size: i64 = if matches!(name, "pushw" | "popw" | "pushfw" | "popfw") { 2 } else { 8 };
        let top = || (self.reg)("rsp").map(Addr::new);
        let begins = |names: &[&str]| names.iter().any(|one| name.starts_with(one));
        let (addr, kind) = if begins(&["push", "call", "enter"]) {
            (top()?.wrapping_offset(size.saturating_neg()), AccessKind::Write)
        } else if begins(&["pop", "ret", "iret"]) && !name.starts_with("popcnt") {
            (top()?, AccessKind::Read)
        } else if name.starts_with("leave") {
            ((self.reg)("rbp").map(Addr::new)?, AccessKind::Read)
        } else {
            return None;
        };
        Some(Access { addr, size: size.unsigned_abs(), kind })
    }
}

/// The name of an instruction without its prefixes.
fn last_word(mnemonic: &str) -> &str {
    mnemonic.rsplit(' ').next().unwrap_or_default()
}

fn touches_nothing(name: &str) -> bool {
    NO_ACCESS.contains(&name) || name.starts_with("prefetch")
}
