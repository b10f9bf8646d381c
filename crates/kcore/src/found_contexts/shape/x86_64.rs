//! What saved contexts look like on x86-64.

use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::{RegisterId, Regs};

use super::{ContextShape, Shaped, Shapes};

const RBX: RegisterId = RegisterId(3);
const RBP: RegisterId = RegisterId(6);
const RSP: RegisterId = RegisterId(7);

/// A layout of Boost.Context's: where `r12` lies, from which on come `r13` to `r15`, `rbx`, `rbp` and the pc
/// (`src/asm/jump_x86_64_sysv_elf_gas.S`; since 1.81 a word for the stack protector lies before them).
const FIRST_REGISTERS: [u64; 2] = [0x08, 0x10];
const SAVED: [RegisterId; 6] =
    [RegisterId(12), RegisterId(13), RegisterId(14), RegisterId(15), RBX, RBP];

/// `mxcsr` and the control word of the x87 unit, with which a saved context begins: all exceptions masked, as
/// the ABI has them when a program starts. The lowest six bits are what happened since; the highest two bytes
/// are not written.
const CONTROL: u64 = 0x0000_037f_0000_1f80;
const WRITTEN: u64 = 0x0000_ffff_ffff_ffc0;

/// `uc_mcontext.fpregs` of a `ucontext_t` of glibc's, and what it points to in one that the library filled:
/// `__fpregs_mem` of the same one.
const FLOATING: u64 = 0xe0;
const FLOATING_AREA: u64 = 0x1a8;

/// Whether a word may be the first of a saved `fcontext_t`.
const fn begins_fcontext(word: u64) -> bool {
    word & WRITTEN == CONTROL
}

/// The `ucontext_t` that a word is the pointer of to its own floating-point registers.
fn begins_ucontext(at: Addr, word: u64) -> Option<Addr> {
    let context = Addr::new(at.get().checked_sub(FLOATING)?);
    (context.checked_add(FLOATING_AREA)?.get() == word).then_some(context)
}

/// What a word may be the mark of.
pub fn begin(at: Addr, word: u64) -> Option<(Addr, ContextShape)> {
    let ucontext = begins_ucontext(at, word).map(|at| (at, ContextShape::Ucontext));
    ucontext.or_else(|| begins_fcontext(word).then_some((at, ContextShape::Fcontext)))
}

impl Shapes<'_> {
    /// The `fcontext_t` that begins at an address, if its pc is code that called something, or if it was made
    /// and not entered: then it begins with a function of Boost.Context's own, which is not behind a call.
    pub(super) fn fcontext_of_x86(&self, at: Addr) -> Option<Shaped> {
        FIRST_REGISTERS.iter().find_map(|first| self.fcontext_with(at, *first))
    }

    fn fcontext_with(&self, at: Addr, first: u64) -> Option<Shaped> {
        let word = |offset: u64| self.space.read_word(at.checked_add(offset)?).ok();
        let place = |number: u64| first.checked_add(number.checked_mul(8)?);
        let pc = Addr::new(word(place(6)?)?);
        if !(self.is_code)(pc) {
            return None;
        }
        let mut regs = Regs::new(pc);
        for (register, number) in SAVED.iter().zip(0..) {
            regs.set(*register, word(place(number)?));
        }
        regs.set(RSP, at.checked_add(place(7)?).map(Addr::get));
        let returns = self.machine.follows_call(pc, self.space);
        let is_new = !returns && self.is_code_in(&regs, RBX) && self.is_code_in(&regs, RBP);
        (returns || is_new).then_some(Shaped {
            at,
            shape: ContextShape::Fcontext,
            stack_pointer: RSP,
            pc: CodeAddr::Return(pc),
            begins_with: regs.get(RBX).filter(|_| is_new).map(Addr::new),
            stack: None,
            regs,
        })
    }

    /// A `ucontext_t`, if what `makecontext` made returns to code.
    pub(super) fn ucontext_of_x86(&self, shaped: Shaped) -> Option<Shaped> {
        let returns_to_code = || {
            let sp = Addr::new(shaped.regs.get(RSP)?);
            self.space.read_word(sp).ok().filter(|word| (self.is_code)(Addr::new(*word)))
        };
        (shaped.begins_with.is_none() || returns_to_code().is_some()).then_some(shaped)
    }

    fn is_code_in(&self, regs: &Regs, register: RegisterId) -> bool {
        regs.get(register).is_some_and(|value| (self.is_code)(Addr::new(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_begin_contexts_are_known() {
        assert!(begins_fcontext(0x0000_037f_0000_1f80) && begins_fcontext(0x7f00_037f_0000_1fa0));
        assert!(!begins_fcontext(0x0000_037f_0000_9f80) && !begins_fcontext(0));
        let own = begins_ucontext(Addr::new(0x10e0), 0x11a8);
        assert_eq!(own, Some(Addr::new(0x1000)));
        assert_eq!(begins_ucontext(Addr::new(0x10e0), 0x11b0), None);
        assert_eq!(begins_ucontext(Addr::new(0x10), 0xd8), None);
    }
}
