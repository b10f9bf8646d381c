//! Instructions as MDB writes them: mnemonic, operands, the symbols that they refer to.

use kcore::{Addr, AddressSpace, Arch, ArmCode, CodeFlow, Core, Disassembler, Fault, Instruction};
use kcore_dcmd::{DcmdError, Result};

use crate::names::Names;

/// Longest instruction of any known architecture, in bytes.
const MAX_INSTRUCTION: usize = 16;

/// Decodes instructions.
pub struct Decoder<'c> {
    core: &'c Core,
    disassembler: Disassembler,
    /// On 32-bit Arm: for code in the other instruction set.
    thumb: Option<Disassembler>,
}

/// Why there is no instruction at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoInstruction {
    /// Its bytes could not be read.
    Fault(Fault),
    /// Its bytes are not an instruction.
    Invalid(Addr),
    /// No symbol tells in which of two instruction sets it is.
    Ambiguous(Addr),
}

impl From<NoInstruction> for DcmdError {
    fn from(why: NoInstruction) -> Self {
        match why {
            NoInstruction::Fault(fault) => {
                Self::at(fault.addr(), format!("failed to read instruction: {fault}"))
            }
            NoInstruction::Invalid(at) => {
                Self::at(at, format!("failed to disassemble: no instruction at address {at:x}"))
            }
            NoInstruction::Ambiguous(at) => Self::at(
                at,
                format!(
                    "failed to disassemble: no symbol tells whether the code at {at:x} is A32 or T32"
                ),
            ),
        }
    }
}

impl<'c> Decoder<'c> {
    /// A decoder for the machine of `core`.
    ///
    /// # Errors
    /// When there is no disassembler for it.
    pub fn new(core: &'c Core) -> Result<Self> {
        let failed = |error: kcore::NoDisassembler| DcmdError::failed(error.to_string());
        let disassembler = Disassembler::new(core.target()).map_err(failed)?;
        let thumb = (core.arch() == Arch::Arm).then(Disassembler::thumb).transpose();
        Ok(Self { core, disassembler, thumb: thumb.map_err(failed)? })
    }

    /// The disassembler for the code at an address.
    fn of(&self, at: Addr) -> Result<&Disassembler, NoInstruction> {
        let Some(thumb) = &self.thumb else { return Ok(&self.disassembler) };
        match self.core.symbols().arm_code(at) {
            Some(ArmCode::Arm) => Ok(&self.disassembler),
            Some(ArmCode::Thumb) => Ok(thumb),
            Some(ArmCode::Data) => Err(NoInstruction::Invalid(at)),
            None => Err(NoInstruction::Ambiguous(at)),
        }
    }

    /// The instruction at `at`.
    ///
    /// # Errors
    /// If it cannot be read, or is not an instruction.
    pub fn at(&self, space: &dyn AddressSpace, at: Addr) -> Result<Instruction, NoInstruction> {
        let mut bytes = [0; MAX_INSTRUCTION];
        let (read, fault) = space.read_partial(at, &mut bytes);
        let bytes = bytes.get(..read).unwrap_or_default();
        self.of(at)?.decode_one(at, bytes).ok_or(match fault {
            Some(fault) => NoInstruction::Fault(fault),
            None => NoInstruction::Invalid(at),
        })
    }

    /// What stands for bytes at `at` that are no instruction.
    pub fn data(&self, space: &dyn AddressSpace, at: Addr) -> Option<Instruction> {
        let mut bytes = [0; MAX_INSTRUCTION];
        let (read, _) = space.read_partial(at, &mut bytes);
        let thumb = self.thumb.as_ref().filter(|_| !at.get().is_multiple_of(4));
        thumb.unwrap_or(&self.disassembler).data(at, bytes.get(..read)?)
    }

    /// The `count` instructions before `at`, lowest first, as many as can be found.
    pub fn before(
        &self,
        core: &Core,
        space: &dyn AddressSpace,
        at: Addr,
        count: usize,
    ) -> Vec<Instruction> {
        /// Bytes before an address that are looked at: a function of this size is decoded from its
        /// beginning.
        const MAX_BEFORE: u64 = 64 << 10;
        let function = core.symbols().at(at).map(|symbol| symbol.start).filter(|start| *start < at);
        let low = Addr::new(at.get().saturating_sub(MAX_BEFORE));
        let guess = MAX_INSTRUCTION.saturating_mul(count) as u64;
        let start =
            function.map_or(Addr::new(at.get().saturating_sub(guess)), |start| start).max(low);
        let before = readable_before(space, start, at);
        let Ok(disassembler) = self.of(at.wrapping_offset(-1)) else { return Vec::new() };
        disassembler.backwards(at, &before, count, function)
    }
}

/// The bytes up to `end`, from `start` on or from the last gap before `end`. Gaps end at pages.
fn readable_before(space: &dyn AddressSpace, start: Addr, end: Addr) -> Vec<u8> {
    const PAGE: u64 = 4096;
    let mut low = end;
    while start < low {
        let page = Addr::new(low.get().saturating_sub(1) & !PAGE.saturating_sub(1)).max(start);
        if space.slice(page).is_err() {
            break;
        }
        low = page;
    }
    let len = end.offset_from(low).and_then(|len| usize::try_from(len).ok());
    let mut bytes = vec![0; len.unwrap_or_default()];
    match space.read(low, &mut bytes) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}

/// The address that an instruction refers to: where it jumps, or what it reads relative to itself.
pub fn referred(instruction: &Instruction) -> Option<Addr> {
    instruction.flow.target().or(instruction.reference)
}

/// The instruction in one line: the mnemonic padded to 7, the operands, `<symbol>` of what it
/// refers to. A direct jump shows how far it goes from the next instruction.
pub fn text(names: &Names<'_>, instruction: &Instruction) -> String {
    let operands = operands(instruction);
    if operands.is_empty() {
        return instruction.mnemonic.clone();
    }
    let head = format!("{:6} {operands}", instruction.mnemonic);
    match referred(instruction) {
        Some(at) => {
            let pad = 7_usize.saturating_sub(operands.len());
            let symbol = names.spelled_or_address(at);
            format!("{head}{:pad$} <{symbol}>", "")
        }
        None => head,
    }
}

/// Operands with the displacement in place of a direct jump's target.
fn operands(instruction: &Instruction) -> String {
    let operands = &instruction.operands;
    let Some(target) = instruction.flow.target() else { return operands.clone() };
    let written = format!("{:#x}", target.get());
    let displacement = target.get().wrapping_sub(instruction.end().get()).cast_signed();
    match operands.strip_suffix(&written) {
        // aarch64 writes immediates behind a hash.
        Some(before) if is_jump(instruction) => {
            format!("{}{}", before.trim_end_matches('#'), signed(displacement))
        }
        _ => operands.clone(),
    }
}

const fn is_jump(instruction: &Instruction) -> bool {
    matches!(instruction.flow, CodeFlow::Call(_) | CodeFlow::Jump(_) | CodeFlow::CondJump(_))
}

fn signed(displacement: i64) -> String {
    let sign = if displacement < 0 { '-' } else { '+' };
    format!("{sign}{}", kcore_dcmd::prefixed(displacement.unsigned_abs(), 16))
}
