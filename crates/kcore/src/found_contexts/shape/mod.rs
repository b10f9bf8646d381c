//! What saved contexts look like in memory; a file a machine.

mod aarch64;
mod x86_64;

use kcore_mem::{Addr, AddrRange, AddressSpace, Arch, CodeAddr};
use kcore_unwind::{Machine, RegisterId, Regs};

/// The kind of a saved context.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ContextShape {
    /// Boost.Context's `fcontext_t`: registers on the stack that was left.
    Fcontext,
    /// glibc's `ucontext_t`, by `getcontext`, `makecontext` or `swapcontext`.
    Ucontext,
    /// Registers in a structure beside the stack, as the code of a switch writes them: libco and its like.
    Beside,
}

impl ContextShape {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fcontext => "fcontext",
            Self::Ucontext => "ucontext",
            Self::Beside => "beside",
        }
    }
}

/// A place that has a shape.
#[derive(Clone, Copy, Debug)]
pub struct Shaped {
    pub at: Addr,
    pub shape: ContextShape,
    pub regs: Regs,
    /// Which of them is the stack pointer.
    pub stack_pointer: RegisterId,
    /// The pc, and what kind it is.
    pub pc: CodeAddr,
    /// The function that it will begin with, if it has not run.
    pub begins_with: Option<Addr>,
    /// The stack, where the context itself tells.
    pub stack: Option<AddrRange>,
}

/// Reads shapes.
pub struct Shapes<'a> {
    pub space: &'a dyn AddressSpace,
    pub machine: &'a dyn Machine,
    pub is_code: &'a (dyn Fn(Addr) -> bool + Sync),
}

impl Shapes<'_> {
    /// Whether contexts are known on a machine.
    pub const fn know(arch: Arch) -> bool {
        matches!(arch, Arch::X86_64 | Arch::Aarch64)
    }

    /// The context that a word may be the mark of, and its kind: a look at the word alone, but for those that
    /// may be.
    pub fn begin(&self, at: Addr, word: u64) -> Option<(Addr, ContextShape)> {
        match self.space.target().arch {
            Arch::Aarch64 => self.begin_on_aarch64(at, word),
            _ => x86_64::begin(at, word),
        }
    }

    /// The context of a kind at an address, if it is one.
    pub fn read(&self, at: Addr, shape: ContextShape) -> Option<Shaped> {
        match (shape, self.space.target().arch) {
            (ContextShape::Ucontext, Arch::Aarch64) => self.ucontext_of_aarch64(self.ucontext(at)?),
            (ContextShape::Ucontext, _) => self.ucontext_of_x86(self.ucontext(at)?),
            (ContextShape::Fcontext, Arch::Aarch64) => self.fcontext_of_aarch64(at),
            (ContextShape::Fcontext, _) => self.fcontext_of_x86(at),
            // The code of a switch tells of these, not a mark.
            (ContextShape::Beside, _) => None,
        }
    }

    /// The `ucontext_t` at an address, if its pc is code. What `makecontext` made is at the first instruction
    /// of a function; what `swapcontext` left, behind its call.
    fn ucontext(&self, at: Addr) -> Option<Shaped> {
        let regs = self.machine.context_regs(at, self.space)?;
        let saved = self.machine.saved_context(at, self.space).ok()?;
        let pc = regs.pc();
        let sp = Addr::new(regs.get(self.machine.stack_pointer())?);
        if !(self.is_code)(pc) || self.space.read_word(sp).is_err() {
            return None;
        }
        let returns = self.machine.follows_call(pc, self.space);
        let stack = AddrRange::with_len(saved.stack, saved.stack_size);
        Some(Shaped {
            at,
            shape: ContextShape::Ucontext,
            stack_pointer: self.machine.stack_pointer(),
            pc: if returns { CodeAddr::Return(pc) } else { CodeAddr::Pc(pc) },
            begins_with: (!returns).then_some(pc),
            stack: Some(stack).filter(|stack| stack.contains(sp)),
            regs,
        })
    }
}
