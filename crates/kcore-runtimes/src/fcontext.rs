//! The registers that a switch of Boost.Context saves on the stack that it leaves.
//!
//! `src/asm/jump_{x86_64_sysv,arm64_aapcs}_elf_gas.S` of 1.60 to 1.88; `bthread_jump_fcontext` of bRPC's
//! `src/bthread/context.cpp` is that of 1.60 to 1.80.

use kcore_mem::{Addr, AddressSpace, Arch};
use kcore_unwind::{RegisterId, Regs, machine};

/// What an architecture saves, by offsets from the saved stack pointer.
struct Saved {
    /// The general registers, by their `DWARF` numbers.
    registers: &'static [(RegisterId, u64)],
    /// The program counter.
    pc: u64,
    /// The stack pointer, by its number; it is behind what was saved.
    stack_pointer: RegisterId,
    /// Bytes that were saved.
    size: u64,
}

const X86_64: Saved = Saved {
    registers: &[
        (RegisterId(12), 0x08),
        (RegisterId(13), 0x10),
        (RegisterId(14), 0x18),
        (RegisterId(15), 0x20),
        (RegisterId(3), 0x28),
        (RegisterId(6), 0x30),
    ],
    pc: 0x38,
    stack_pointer: RegisterId(7),
    size: 0x40,
};

/// The same since 1.81, with a word for the stack protector before them.
const X86_64_GUARDED: Saved = Saved {
    registers: &[
        (RegisterId(12), 0x10),
        (RegisterId(13), 0x18),
        (RegisterId(14), 0x20),
        (RegisterId(15), 0x28),
        (RegisterId(3), 0x30),
        (RegisterId(6), 0x38),
    ],
    pc: 0x40,
    stack_pointer: RegisterId(7),
    size: 0x48,
};

const AARCH64: Saved = Saved {
    registers: &[
        (RegisterId(19), 0x40),
        (RegisterId(20), 0x48),
        (RegisterId(21), 0x50),
        (RegisterId(22), 0x58),
        (RegisterId(23), 0x60),
        (RegisterId(24), 0x68),
        (RegisterId(25), 0x70),
        (RegisterId(26), 0x78),
        (RegisterId(27), 0x80),
        (RegisterId(28), 0x88),
        (RegisterId(29), 0x90),
        (RegisterId(30), 0x98),
    ],
    pc: 0xa0,
    stack_pointer: RegisterId(31),
    size: 0xb0,
};

/// The registers with which a stack goes on that was left at `context` and ends at `end`, as far as they
/// were saved.
pub fn saved(space: &dyn AddressSpace, context: Addr, end: Addr) -> Option<Regs> {
    of(space.target().arch)?.read(space, context, end)
}

/// The same of any release of Boost.Context: a switch is left behind a call, which tells where the program
/// counter lies. `is_code` is asked where the code itself is not to be had.
pub fn saved_by_any(
    space: &dyn AddressSpace,
    context: Addr,
    end: Addr,
    is_code: &dyn Fn(Addr) -> bool,
) -> Option<Regs> {
    let ways: &[&Saved] = match space.target().arch {
        Arch::X86_64 => &[&X86_64, &X86_64_GUARDED],
        Arch::Aarch64 => &[&AARCH64],
        _ => return None,
    };
    let machine = machine(space.target(), None)?;
    let read = || ways.iter().filter_map(|saved| saved.read(space, context, end));
    let returns = |regs: &Regs| machine.follows_call(regs.pc(), space);
    read().find(returns).or_else(|| read().find(|regs| is_code(regs.pc())))
}

impl Saved {
    fn read(&self, space: &dyn AddressSpace, context: Addr, end: Addr) -> Option<Regs> {
        let after = context.checked_add(self.size).filter(|after| *after <= end)?;
        let word = |offset: u64| space.read_word(context.checked_add(offset)?).ok();
        let pc = word(self.pc).filter(|pc| *pc != 0)?;
        let mut regs = Regs::new(Addr::new(pc));
        for (register, offset) in self.registers {
            regs.set(*register, word(*offset));
        }
        regs.set(self.stack_pointer, Some(after.get()));
        Some(regs)
    }
}

/// The register that holds the stack pointer.
pub fn stack_pointer(arch: Arch) -> Option<RegisterId> {
    of(arch).map(|saved| saved.stack_pointer)
}

fn of(arch: Arch) -> Option<&'static Saved> {
    match arch {
        Arch::X86_64 => Some(&X86_64),
        Arch::Aarch64 => Some(&AARCH64),
        _ => None,
    }
}
