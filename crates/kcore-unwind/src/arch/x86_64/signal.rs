//! Signal frames: the code that a handler returns to, and the registers saved behind it.

use kcore_mem::{Addr, AddressSpace, Fault};

use super::regs::NAMES;
use crate::{RegisterId, Regs, SavedContext, saved_context::ContextReader};

/// `mov $15,%rax; syscall` with a 32-bit immediate, as glibc writes it, and the shorter form with
/// `%eax` of musl and others. Number 15 is `rt_sigreturn`.
const RESTORERS: [&[u8]; 2] =
    [&[0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05], &[0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05]];

/// Offset of `uc_mcontext.gregs` in `ucontext_t` (glibc `sysdeps/unix/sysv/linux/x86/sys/ucontext.h`;
/// the kernel's `struct sigcontext`).
const GREGS: u64 = 40;

/// Order of `gregs`, by DWARF number; the seventeenth is the pc.
const GREGS_ORDER: [u16; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7];

/// Names of `gregs`, up to the flags.
const GREGS_NAMES: [&str; 18] = [
    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rdi", "rsi", "rbp", "rbx", "rdx", "rax",
    "rcx", "rsp", "rip", "rflags",
];

/// Offsets in `ucontext_t` of `REG_ERR`, `REG_TRAPNO` and `REG_CR2`, and of `uc_sigmask`.
const ERROR: u64 = GREGS + 19 * 8;
const TRAP: u64 = GREGS + 20 * 8;
const CR2: u64 = GREGS + 22 * 8;
const MASK: u64 = 296;
/// Size of the kernel's `struct ucontext`, behind which `struct rt_sigframe` has the `siginfo_t`
/// (Linux `arch/x86/include/asm/sigframe.h`).
const CONTEXT_SIZE: u64 = 304;

/// The `siginfo_t` of the signal frame with that `ucontext_t`.
pub fn signal_info(context: Addr) -> Option<Addr> {
    context.checked_add(CONTEXT_SIZE)
}

/// The `ucontext_t` whose saved stack pointer, the sixteenth of `gregs`, lies at `slot`.
pub fn context_of_saved_stack_pointer(slot: Addr) -> Option<Addr> {
    slot.get().checked_sub(GREGS + 15 * 8).map(Addr::new)
}

/// Whether `at` is the code that returns from a signal handler.
pub fn is_restorer(at: Addr, space: &dyn AddressSpace) -> bool {
    let mut bytes = [0; 9];
    let (read, _) = space.read_partial(at, &mut bytes);
    let bytes = bytes.get(..read).unwrap_or_default();
    RESTORERS.iter().any(|pattern| bytes.starts_with(pattern))
}

/// The registers in the `ucontext_t` to which the stack pointer points when the handler has
/// returned.
pub fn interrupted_regs(regs: &Regs, space: &dyn AddressSpace) -> Option<Regs> {
    let context = Addr::new(regs.get(super::regs::RSP)?);
    registers_of_context(context, space)
}

/// The registers that a `ucontext_t` holds.
pub fn registers_of_context(context: Addr, space: &dyn AddressSpace) -> Option<Regs> {
    let slot = |index: u64| {
        let offset = GREGS.checked_add(index.checked_mul(8)?)?;
        space.read_word(context.checked_add(offset)?).ok()
    };
    let mut regs = Regs::new(Addr::new(slot(NAMES.len() as u64)?));
    for (index, number) in (0..).zip(GREGS_ORDER) {
        regs.set(RegisterId(number), slot(index));
    }
    Some(regs)
}

/// All that a `ucontext_t` holds.
pub fn saved_context(context: Addr, space: &dyn AddressSpace) -> Result<SavedContext, Fault> {
    let reader = ContextReader::new(context, space);
    Ok(SavedContext {
        mask: reader.word(MASK)?,
        registers: reader.registers(GREGS, &GREGS_NAMES)?,
        fault_address: Addr::new(reader.word(CR2)?),
        exception: Some((reader.word(TRAP)?, reader.word(ERROR)?)),
        ..reader.start()?
    })
}
