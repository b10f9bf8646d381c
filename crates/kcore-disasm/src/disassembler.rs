//! Decoding bytes into instructions.

use capstone::{Capstone, Insn, InsnGroupId, InsnGroupType};
use kcore_mem::{Access, Addr, Arch, Endian, Target};

use crate::{
    Flow, Instruction,
    arch::{Machine, aarch64::Aarch64, plain, x86_64::X86_64},
};

/// No disassembler for this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no disassembler for {0}")]
pub struct Unsupported(pub Arch);

/// A disassembler for one machine.
pub struct Disassembler {
    capstone: Capstone,
    machine: &'static dyn Machine,
}

impl Disassembler {
    /// A disassembler for `target`: x86-64 and i386 in AT&T syntax, aarch64, and others that are only shown.
    ///
    /// # Errors
    /// For any other machine.
    pub fn new(target: Target) -> Result<Self, Unsupported> {
        let machine: &'static dyn Machine = match (target.arch, target.word, target.endian) {
            (Arch::X86_64, _, Endian::Little) => &X86_64,
            (Arch::Aarch64, 8, Endian::Little) => &Aarch64,
            (arch, ..) => plain::machine(target).ok_or(Unsupported(arch))?,
        };
        let capstone = machine.open().map_err(|_| Unsupported(target.arch))?;
        Ok(Self { capstone, machine })
    }

    /// A disassembler for Thumb code of 32-bit Arm.
    ///
    /// # Errors
    /// When Capstone was built without it.
    pub fn thumb() -> Result<Self, Unsupported> {
        let machine = &plain::THUMB;
        let capstone = machine.open().map_err(|_| Unsupported(Arch::Arm))?;
        Ok(Self { capstone, machine })
    }

    /// The instruction that begins at `addr`, the first of `bytes`; `None` when they begin none or
    /// end before it does.
    pub fn decode_one(&self, addr: Addr, bytes: &[u8]) -> Option<Instruction> {
        self.with_instruction(addr, bytes, |decoded| self.read(decoded)).flatten()
    }

    /// What the instruction is called that begins at `addr`, the first of `bytes`: see
    /// [`Instruction::mnemonic`]. `None` as of [`Disassembler::decode_one`].
    pub fn mnemonic(&self, addr: Addr, bytes: &[u8]) -> Option<String> {
        self.with_instruction(addr, bytes, |decoded| decoded.mnemonic().map(str::to_owned))?
    }

    /// The instructions from `addr`, the first of `bytes`, on, at most `max`. What is no instruction
    /// becomes `.byte` or `.inst`; an instruction that is cut off at the end of `bytes` is left out.
    pub fn decode(&self, addr: Addr, bytes: &[u8], max: usize) -> Vec<Instruction> {
        let mut instructions = Vec::new();
        let (mut addr, mut rest) = (addr, bytes);
        while instructions.len() < max && !rest.is_empty() {
            let decoded = self.decode_one(addr, rest).or_else(|| self.data(addr, rest));
            let Some(instruction) = decoded else { break };
            rest = rest.get(instruction.len()..).unwrap_or_default();
            addr = instruction.end();
            instructions.push(instruction);
        }
        instructions
    }

    /// Whether [`Disassembler::references`] finds what code refers to: on some machines instructions are only shown.
    pub fn finds_references(&self) -> bool {
        self.machine.finds_references()
    }

    pub(crate) fn machine(&self) -> &dyn Machine {
        self.machine
    }

    pub(crate) const fn capstone(&self) -> &Capstone {
        &self.capstone
    }

    /// The accesses to data of the instruction at `addr`.
    pub(crate) fn data_accesses(
        &self,
        addr: Addr,
        bytes: &[u8],
        reg: &dyn Fn(&str) -> Option<u64>,
    ) -> Vec<Access> {
        let accesses = self.with_instruction(addr, bytes, |decoded| {
            self.machine.accesses(&self.capstone, decoded, reg)
        });
        accesses.unwrap_or_default()
    }

    /// Its flow alone: cheaper than [`Disassembler::decode_one`].
    pub(crate) fn length_and_flow(&self, addr: Addr, bytes: &[u8]) -> Option<(usize, Flow)> {
        self.with_instruction(addr, bytes, |decoded| Some((decoded.len(), self.flow(decoded)?)))?
    }

    pub(crate) fn with_instruction<T>(
        &self,
        addr: Addr,
        bytes: &[u8],
        read: impl FnOnce(&Insn<'_>) -> T,
    ) -> Option<T> {
        let mut decoded = self.capstone.disasm_iter(bytes, addr.get()).ok()?;
        let decoded = decoded.next()?;
        Some(read(&decoded))
    }

    fn read(&self, decoded: &Insn<'_>) -> Option<Instruction> {
        Some(Instruction {
            addr: Addr::new(decoded.address()),
            bytes: decoded.bytes().to_vec(),
            mnemonic: decoded.mnemonic()?.to_owned(),
            operands: self.machine.spelled(decoded.op_str().unwrap_or_default()).replace(", ", ","),
            flow: self.flow(decoded)?,
            reference: self.machine.reference(&self.capstone, decoded),
        })
    }

    fn flow(&self, decoded: &Insn<'_>) -> Option<Flow> {
        let mnemonic = decoded.mnemonic()?;
        let detail = self.capstone.insn_detail(decoded).ok()?;
        let groups = detail.groups();
        let is = |group: InsnGroupType::Type| {
            u8::try_from(group).is_ok_and(|group| groups.contains(&InsnGroupId(group)))
        };
        let target = || self.machine.target(&self.capstone, decoded);
        Some(if self.machine.is_trap(mnemonic) {
            Flow::Trap
        } else if is(InsnGroupType::CS_GRP_CALL) {
            Flow::Call(target())
        } else if is(InsnGroupType::CS_GRP_RET) || is(InsnGroupType::CS_GRP_IRET) {
            Flow::Return
        } else if !is(InsnGroupType::CS_GRP_JUMP) {
            Flow::Next
        } else if self.machine.is_unconditional(mnemonic) {
            Flow::Jump(target())
        } else {
            Flow::CondJump(target())
        })
    }

    /// What stands for bytes that are no instruction; `None` when they could be the beginning of
    /// one that is cut off.
    pub fn data(&self, addr: Addr, bytes: &[u8]) -> Option<Instruction> {
        let longest = self.machine.longest();
        let padded: Vec<u8> =
            bytes.iter().copied().chain(std::iter::repeat(0)).take(longest).collect();
        if bytes.len() < longest && self.decode_one(addr, &padded).is_some() {
            return None;
        }
        let junk = bytes.get(..self.machine.shortest())?;
        let value = junk.iter().rev().fold(0_u32, |value, byte| (value << 8) | u32::from(*byte));
        Some(Instruction {
            addr,
            bytes: junk.to_vec(),
            mnemonic: self.machine.junk_word().to_owned(),
            operands: format!("{value:#x}"),
            flow: Flow::Trap,
            reference: None,
        })
    }
}

impl std::fmt::Debug for Disassembler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Disassembler").finish_non_exhaustive()
    }
}
