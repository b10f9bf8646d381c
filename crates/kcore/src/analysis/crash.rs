//! A crash as finders see it: the first fault, or else the signal that ended the process.

use kcore_elf::core_file::{SignalDetail, SignalInfo};
use kcore_mem::{Access, AccessKind, Addr};

#[cfg(not(feature = "disassembly"))]
use crate::code::no_disassembler::MemoryOperand;
use crate::{Core, Tid, handled::Stop};
#[cfg(feature = "disassembly")]
use kcore_disasm::MemoryOperand;

/// SIGSEGV.
pub(super) const SIGSEGV: i32 = 11;
/// SIGBUS.
pub(super) const SIGBUS: i32 = 7;
/// The code of a fault of which the kernel tells no address.
const SI_KERNEL: i32 = 0x80;

/// The first fault of a process that died, or else the signal that ended it.
pub struct Crash<'a> {
    core: &'a Core,
    info: Option<SignalInfo>,
    stop: Stop,
}

impl<'a> Crash<'a> {
    pub(super) fn of(core: &'a Core) -> Option<Self> {
        let thread = core.crashed_thread()?;
        let first = core.handled_signals(thread).signals.into_iter().find(|it| it.is_fault());
        let (info, stop) = match first {
            Some(first) => (Some(first.info), first.stop),
            None => (thread.siginfo, core.stop_of(thread.tid)),
        };
        Some(Self { core, info, stop })
    }

    /// The process.
    pub const fn core(&self) -> &'a Core {
        self.core
    }

    /// The thread that took the signal.
    pub const fn tid(&self) -> Tid {
        self.stop.tid
    }

    /// The instruction at which it stood.
    pub const fn pc(&self) -> Option<Addr> {
        self.stop.pc
    }

    /// Its stack pointer.
    pub const fn sp(&self) -> Option<Addr> {
        self.stop.sp
    }

    /// Why the signal was sent.
    ///
    /// # Errors
    /// If the core does not tell.
    pub fn signal(&self) -> Result<SignalInfo, &'static str> {
        self.info.ok_or("the core does not say why the signal was sent")
    }

    /// The address of a memory fault; `None` for another signal, and where the kernel tells none.
    pub fn fault(&self) -> Option<Addr> {
        let info = self.info.filter(|info| matches!(info.number, SIGSEGV | SIGBUS))?;
        match info.detail {
            SignalDetail::Fault { address } => Some(address),
            _ => None,
        }
    }

    /// Whether the kernel raised SIGSEGV and told no address.
    pub fn has_no_address(&self) -> bool {
        self.info.is_some_and(|info| info.number == SIGSEGV && info.code == SI_KERNEL)
    }

    /// What was done at the address of a memory fault.
    pub fn access(&self) -> Option<AccessKind> {
        self.core.access_of_instruction(self.stop.pc?, &self.stop.registers, self.fault()?)
    }

    /// The caller's name, if the caller is known for certain.
    pub(super) fn caller(&self) -> Option<String> {
        let frame = self.stop.caller.filter(|frame| !frame.guess)?;
        self.core.symbol_at(frame.pc.lookup()).map(|symbol| symbol.name.to_string())
    }

    /// The function of the instruction.
    pub(super) fn function(&self) -> Option<String> {
        let symbol = self.core.symbol_at(self.stop.pc?).filter(|it| !it.is_only_nearest())?;
        Some(symbol.name.to_string())
    }

    /// The function of the instruction, as the end of a sentence.
    pub(super) fn in_function(&self) -> String {
        self.function().map_or_else(String::new, |name| format!(", in {name}"))
    }

    /// The memory that the operands of the instruction spell out.
    pub(super) fn operands(&self) -> Vec<MemoryOperand> {
        let Some(pc) = self.stop.pc else { return Vec::new() };
        self.core.operands_of_instruction(pc, &self.stop.registers)
    }

    /// The operand that touches the fault.
    pub(super) fn operand_at_fault(&self) -> Option<MemoryOperand> {
        let fault = self.fault()?;
        self.operands().into_iter().find(|operand| operand.access.touches(fault))
    }

    /// The accesses to data of the instruction.
    pub(super) fn data_accesses(&self) -> Vec<Access> {
        let Some(pc) = self.stop.pc else { return Vec::new() };
        let mut accesses = self.core.accesses_of_instruction(pc, &self.stop.registers);
        accesses.retain(|access| access.kind != AccessKind::Execute);
        accesses
    }
}
