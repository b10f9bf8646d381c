//! Signal frames: the code that a handler returns to, and the registers saved behind it.

use kcore_mem::{Addr, AddressSpace, Fault, Target};

use super::regs::NAMES;
use crate::{RegisterId, Regs, SavedContext, saved_context::ContextReader};

/// `mov $15,%rax; syscall` with a 32-bit immediate, as glibc writes it, and the shorter form with
/// `%eax` of musl and others. Number 15 is `rt_sigreturn`; that of x32 is 0x40000000 + 513.
const RESTORERS: [&[u8]; 4] = [
    &[0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05],
    &[0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05],
    &[0x48, 0xc7, 0xc0, 0x01, 0x02, 0, 0x40, 0x0f, 0x05],
    &[0xb8, 0x01, 0x02, 0, 0x40, 0x0f, 0x05],
];

/// Order of `gregs`, by DWARF number; the seventeenth is the pc.
const GREGS_ORDER: [u16; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7];

/// Names of `gregs`, up to the flags.
const GREGS_NAMES: [&str; 18] = [
    "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rdi", "rsi", "rbp", "rbx", "rdx", "rax",
    "rcx", "rsp", "rip", "rflags",
];

/// Where a `ucontext_t` has what it holds.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Offset of `uc_mcontext.gregs` (glibc `sysdeps/unix/sysv/linux/x86/sys/ucontext.h`; the kernel's
    /// `struct sigcontext`).
    gregs: u64,
}

impl Layout {
    /// That of a target; programs of x32 have shorter words before the registers (Linux
    /// `arch/x86/include/asm/sigframe.h`, `struct ucontext_x32`).
    pub const fn of(target: Target) -> Self {
        Self { gregs: if target.word == 4 { 24 } else { 40 } }
    }

    /// Offset of one of `gregs`, by its index.
    const fn greg(self, index: u64) -> u64 {
        self.gregs.saturating_add(index.saturating_mul(8))
    }

    /// Offset of `uc_sigmask`, the last word of the kernel's `struct ucontext`.
    const fn mask(self) -> u64 {
        self.greg(32)
    }

    /// The `siginfo_t` of the signal frame with that `ucontext_t`: `struct rt_sigframe` has it right behind.
    pub fn signal_info(self, context: Addr) -> Option<Addr> {
        context.checked_add(self.greg(33))
    }

    /// The `ucontext_t` whose saved stack pointer lies at `slot`.
    pub fn context_of_saved_stack_pointer(self, slot: Addr) -> Option<Addr> {
        slot.get().checked_sub(self.greg(STACK_POINTER)).map(Addr::new)
    }
}

/// Indices in `gregs` of the stack pointer, `REG_ERR`, `REG_TRAPNO` and `REG_CR2`.
const STACK_POINTER: u64 = 15;
const ERROR: u64 = 19;
const TRAP: u64 = 20;
const CR2: u64 = 22;

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
    let layout = Layout::of(space.target());
    let slot = |index| space.read_register(context.checked_add(layout.greg(index))?).ok();
    let mut regs = Regs::new(Addr::new(slot(NAMES.len() as u64)?));
    for (index, number) in (0..).zip(GREGS_ORDER) {
        regs.set(RegisterId(number), slot(index));
    }
    Some(regs)
}

/// All that a `ucontext_t` holds.
pub fn saved_context(context: Addr, space: &dyn AddressSpace) -> Result<SavedContext, Fault> {
    let (reader, layout) = (ContextReader::new(context, space), Layout::of(space.target()));
    let greg = |index| reader.register(layout.greg(index));
    Ok(SavedContext {
        mask: reader.register(layout.mask())?,
        registers: reader.registers(layout.gregs, &GREGS_NAMES)?,
        fault_address: Addr::new(greg(CR2)?),
        exception: Some((greg(TRAP)?, greg(ERROR)?)),
        ..reader.start()?
    })
}
