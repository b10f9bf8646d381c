//! Whether an instruction explains that the kernel raised SIGSEGV without an address.
//!
//! The processor refuses an access to an address that is none, an access that is not aligned as its instruction asks, and
//! instructions that only the kernel may run, and tells no address: x86-64 calls that a general protection fault. The kernel
//! also raises such a signal itself, as where it cannot write the frame of a signal's handler (Linux `kernel/signal.c`,
//! `force_sigsegv`) or finds a thread's `rseq` area damaged (`kernel/rseq.c`): the instruction has nothing to do with that.

use kcore_mem::{Access, Addr, JumpSource};

use crate::{Core, arch::facts, handled::Stop};

/// Returns take their target from the stack.
const RETURNS: [&str; 3] = ["ret", "iret", "lret"];
/// Sizes in bytes of accesses that some instructions allow only at a multiple of the size.
const WIDE: [u64; 3] = [16, 32, 64];

/// What the processor may have refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusedAccess {
    /// An address that is none.
    NonCanonical,
    /// Something else of the instruction.
    Other,
    /// The instruction is not known.
    Unknown,
    /// Nothing: what it touches is there, and may be touched so.
    Nothing,
}

impl Core {
    /// What an instruction did that the processor may have refused without an address.
    pub(crate) fn refused_access(&self, stop: &Stop) -> RefusedAccess {
        let Some(pc) = stop.pc else { return RefusedAccess::Unknown };
        if is_non_canonical(pc) {
            return RefusedAccess::NonCanonical;
        }
        let accesses = self.accesses_of_instruction(pc, &stop.registers);
        let Some(mnemonic) = self.mnemonic(pc) else { return RefusedAccess::Unknown };
        let is_strange = |access: &Access| access.is_non_canonical();
        let jumps_astray = self.jump_target(stop, pc, &mnemonic).is_some_and(is_non_canonical);
        let is_misaligned = |access: &Access| {
            WIDE.contains(&access.size) && !access.addr.get().is_multiple_of(access.size)
        };
        let is_protected = facts(self.target()).protected.iter().any(|name| *name == mnemonic);
        match () {
            () if jumps_astray || accesses.iter().any(is_strange) => RefusedAccess::NonCanonical,
            () if is_protected || accesses.iter().any(is_misaligned) => RefusedAccess::Other,
            () if accesses.iter().any(|access| !self.may_access(access)) => RefusedAccess::Other,
            () => RefusedAccess::Nothing,
        }
    }

    /// In words, as the end of a sentence.
    pub(crate) fn why_without_address(&self, stop: &Stop) -> &'static str {
        let facts = facts(self.target());
        // On other machines nothing is known of such a signal.
        if facts.segv_without_address.is_empty() {
            return "";
        }
        match self.refused_access(stop) {
            RefusedAccess::NonCanonical => facts.segv_without_address,
            RefusedAccess::Other => ": general protection fault",
            RefusedAccess::Unknown => ": the kernel tells no address",
            RefusedAccess::Nothing => {
                ": the kernel tells no address, and the instruction touches no memory that it may not"
            }
        }
    }

    /// Where an instruction jumps or returns to, if it takes that from a register or from memory.
    fn jump_target(&self, stop: &Stop, pc: Addr, mnemonic: &str) -> Option<Addr> {
        if RETURNS.iter().any(|name| mnemonic.starts_with(name)) {
            return self.space().read_addr(stop.sp?).ok();
        }
        match self.jump_source(pc, &stop.registers)? {
            JumpSource::Register(register) => Some(Addr::new(register.value)),
            JumpSource::Memory(operand) => self.space().read_addr(operand.access.addr).ok(),
        }
    }
}

const fn is_non_canonical(at: Addr) -> bool {
    Access { addr: at, size: 1, kind: kcore_mem::AccessKind::Read }.is_non_canonical()
}
