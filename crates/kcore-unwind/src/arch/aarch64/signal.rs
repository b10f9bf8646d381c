//! Signal frames: the code that a handler returns to, and the registers saved above it.

use kcore_mem::{Addr, AddressSpace, Fault};

use super::regs::NAMES;
use crate::{Regs, SavedContext, saved_context::ContextReader};

/// `mov x8, #139` (`rt_sigreturn`) and `svc #0`: what the vdso's `__kernel_rt_sigreturn` is, and
/// what emulators put in its place. The vdso has no unwind information for it on purpose (Linux
/// `arch/arm64/kernel/vdso/sigreturn.S`): every unwinder is to know these two words.
const RESTORER: [u64; 2] = [0xd280_1168, 0xd400_0001];

/// Bytes of `siginfo_t`, which lies below the `ucontext_t` in `struct rt_sigframe`.
const SIGINFO: u64 = 128;

/// Offset of `uc_mcontext.regs` in `ucontext_t`: the mask of signals takes 128 bytes, and the
/// context behind it is aligned to 16 and begins with the fault's address.
const REGS: u64 = 184;

/// Offsets in `ucontext_t` of `uc_sigmask` and of `uc_mcontext.fault_address`.
const MASK: u64 = 40;
const FAULT_ADDRESS: u64 = 176;

/// Whether `at` is the code that returns from a signal handler.
pub fn is_restorer(at: Addr, space: &dyn AddressSpace) -> bool {
    (0..).step_by(4).zip(RESTORER).all(|(offset, word)| {
        at.checked_add(offset).is_some_and(|at| space.read_uint(at, 4) == Ok(word))
    })
}

/// The registers in the signal frame to which the stack pointer points when the handler has
/// returned.
pub fn interrupted_regs(regs: &Regs, space: &dyn AddressSpace) -> Option<Regs> {
    let frame = Addr::new(regs.get(super::regs::SP)?);
    registers_of_context(signal_context(frame)?, space)
}

/// The `ucontext_t` of the signal frame at the stack pointer.
pub fn signal_context(frame: Addr) -> Option<Addr> {
    frame.checked_add(SIGINFO)
}

/// The `siginfo_t` of the signal frame with that `ucontext_t`, which lies before it.
pub fn signal_info(context: Addr) -> Option<Addr> {
    context.get().checked_sub(SIGINFO).map(Addr::new)
}

/// The `ucontext_t` whose saved stack pointer, which follows x0 to x30, lies at `slot`.
pub fn context_of_saved_stack_pointer(slot: Addr) -> Option<Addr> {
    slot.get().checked_sub(REGS + 31 * 8).map(Addr::new)
}

/// The registers that a `ucontext_t` holds: x0 to x30, sp, pc.
pub fn registers_of_context(context: Addr, space: &dyn AddressSpace) -> Option<Regs> {
    let slot = |index: usize| {
        let offset = REGS.checked_add((index as u64).checked_mul(8)?)?;
        space.read_register(context.checked_add(offset)?).ok()
    };
    let mut regs = Regs::new(Addr::new(slot(NAMES.len())?));
    for (index, (_, register)) in NAMES.iter().enumerate() {
        regs.set(*register, slot(index));
    }
    Some(regs)
}

/// All that a `ucontext_t` holds.
pub fn saved_context(context: Addr, space: &dyn AddressSpace) -> Result<SavedContext, Fault> {
    let reader = ContextReader::new(context, space);
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).chain(["pc", "pstate"]).collect();
    Ok(SavedContext {
        mask: reader.register(MASK)?,
        registers: reader.registers(REGS, &names)?,
        fault_address: Addr::new(reader.register(FAULT_ADDRESS)?),
        ..reader.start()?
    })
}
