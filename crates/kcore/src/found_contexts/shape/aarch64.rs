//! What saved contexts look like on aarch64.

use kcore_mem::{Addr, CodeAddr};
use kcore_unwind::{RegisterId, Regs};

use super::{ContextShape, Shaped, Shapes};

/// Where Boost.Context leaves `x19` to `x30` on the stack, and behind them the pc, and how much it takes
/// (`src/asm/jump_arm64_aapcs_elf_gas.S`; bRPC's `bthread_jump_fcontext` too).
const FIRST_REGISTER: u64 = 0x40;
const SAVED: std::ops::RangeInclusive<u16> = 19..=30;
const LINK: u64 = 0x98;
const PC: u64 = 0xa0;
const SIZE: u64 = 0xb0;

const X1: RegisterId = RegisterId(1);
const X30: RegisterId = RegisterId(30);
const SP: RegisterId = RegisterId(31);

/// The head of the record of floating-point registers in a `ucontext_t`, and where the library puts it
/// (`FPSIMD_MAGIC` and its size; glibc `sysdeps/unix/sysv/linux/aarch64/{getcontext,swapcontext}.S`).
const FLOATING_HEAD: u64 = 0x0000_0210_4650_8001;
const FLOATING: u64 = 464;
/// `uc_mcontext.pstate`, which the library sets to 0 and the kernel to what it is.
const STATE: u64 = 448;

impl Shapes<'_> {
    /// What a word may be the mark of: the head of a record, or the return address of two in a row, `x30` and
    /// the pc, that are code both.
    pub(super) fn begin_on_aarch64(&self, at: Addr, word: u64) -> Option<(Addr, ContextShape)> {
        if word == FLOATING_HEAD {
            return Some((Addr::new(at.get().checked_sub(FLOATING)?), ContextShape::Ucontext));
        }
        let context = Addr::new(at.get().checked_sub(LINK)?);
        let may_be_code = word.is_multiple_of(4) && (self.is_code)(Addr::new(word));
        let next = || self.space.read_word(at.checked_add(8)?).ok();
        let pc = may_be_code.then(next)?.filter(|pc| *pc == word || self.ends(word))?;
        (self.is_code)(Addr::new(pc)).then_some((context, ContextShape::Fcontext))
    }

    /// Whether an address is what the first function of a stack returns to.
    fn ends(&self, at: u64) -> bool {
        self.machine.is_end_of_context(Addr::new(at), self.space)
    }

    /// The `fcontext_t` at an address, if its pc is code that called something, or if it was made and not
    /// entered: then it returns to the end of all.
    pub(super) fn fcontext_of_aarch64(&self, at: Addr) -> Option<Shaped> {
        let word = |offset: u64| self.space.read_word(at.checked_add(offset)?).ok();
        let (link, pc) = (word(LINK)?, Addr::new(word(PC)?));
        let mut regs = Regs::new(pc);
        for (register, offset) in SAVED.zip((FIRST_REGISTER..).step_by(8)) {
            regs.set(RegisterId(register), word(offset));
        }
        regs.set(SP, at.checked_add(SIZE).map(Addr::get));
        let is_new = pc.get() != link && self.ends(link);
        let returns = pc.get() == link && self.machine.follows_call(pc, self.space);
        (returns || is_new).then_some(Shaped {
            at,
            shape: ContextShape::Fcontext,
            stack_pointer: SP,
            regs,
            pc: CodeAddr::Return(pc),
            begins_with: is_new.then_some(pc),
            stack: None,
        })
    }

    /// A `ucontext_t`, if the library filled it and not the kernel for a signal: it keeps no flags of the
    /// processor. What `makecontext` made begins with a function that returns to where nothing called.
    pub(super) fn ucontext_of_aarch64(&self, shaped: Shaped) -> Option<Shaped> {
        let state = shaped.at.checked_add(STATE).and_then(|at| self.space.read_word(at).ok());
        let link = Addr::new(shaped.regs.get(X30)?);
        if state != Some(0) || !(self.is_code)(link) {
            return None;
        }
        let returns = |at: Addr| self.machine.follows_call(at, self.space);
        let own = shaped
            .regs
            .get(X1)
            .map(Addr::new)
            .filter(|own| link == shaped.regs.pc() && returns(*own));
        match own.filter(|_| !returns(link)) {
            // `swapcontext` goes on in its own code, which returns to where `x1` says.
            Some(caller) => Some(Shaped {
                regs: shaped.regs.with_pc(caller),
                pc: CodeAddr::Return(caller),
                begins_with: None,
                ..shaped
            }),
            None => Some(shaped),
        }
    }
}
