//! What depends on the machine. Every fact about an architecture stands in its folder.

mod aarch64;
mod x86_64;

use kcore_mem::{Addr, AddrRange, AddressSpace, Arch, Endian, Fault, Target};

use crate::{Reading, RegisterId, Regs, SavedContext, Switch, follow::Instruction};

/// One register of a thread as the kernel saved it (`pr_reg` of `NT_PRSTATUS`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserRegister {
    /// Its name, as in `<rax`.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
}

/// A register under another name: a part of one, such as `eax` of `rax`, or all of it, such as
/// `lr` for `x30`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterPart {
    /// The register's name in `pr_reg`.
    pub whole: &'static str,
    /// Its lowest bit that counts.
    pub shift: u32,
    /// Bits that count, 1 to 64.
    pub bits: u32,
}

/// An architecture, as the walker needs it.
pub trait Machine: Send + Sync {
    /// The stack pointer.
    fn stack_pointer(&self) -> RegisterId;

    /// The frame pointer.
    fn frame_pointer(&self) -> RegisterId;

    /// The program counter, under the number by which unwind rules may ask for it.
    fn program_counter(&self) -> RegisterId;

    /// The register in which a call leaves the return address; `None` where it pushes it.
    fn link_register(&self) -> Option<RegisterId>;

    /// The general registers with DWARF numbers, by name.
    fn register_names(&self) -> &'static [(&'static str, RegisterId)];

    /// What a name means that is none of `pr_reg`.
    fn part_of(&self, name: &str) -> Option<RegisterPart>;

    /// Whether a register of this name belongs to the thread and is the same in all its frames.
    fn is_of_thread(&self, name: &str) -> bool;

    /// The name of the program counter.
    fn pc_name(&self) -> &'static str;

    /// The registers of `pr_reg`, in its order, as far as `bytes` reach.
    fn user_registers(&self, bytes: &[u8], target: Target) -> Vec<UserRegister>;

    /// The registers from which a walk starts; `None` when `bytes` are too few.
    fn regs(&self, bytes: &[u8], target: Target) -> Option<Regs>;

    /// The system call that a thread was in by its registers, when its pc stands right behind a
    /// system-call instruction.
    fn system_call(&self, bytes: &[u8], target: Target, space: &dyn AddressSpace) -> Option<u64>;

    /// The bytes of `pr_reg`: what is not known is 0. `system_call` is the call that the thread waits in,
    /// behind whose instruction its pc stands.
    fn pr_reg(
        &self,
        regs: &Regs,
        system_call: Option<u64>,
        thread_pointer: Option<Addr>,
    ) -> Vec<u8>;

    /// The system call that a signal interrupted, and where it returns to. The kernel has set the pc back to
    /// the instruction, to call again, or has let the call fail with `EINTR`; then the number is known only
    /// where it still stands in a register or in the code.
    fn interrupted_system_call(&self, regs: &Regs, space: &dyn AddressSpace)
    -> Option<(u64, Addr)>;

    /// The system call whose number the code loads right before the instruction of a call. The pc of a thread
    /// in that call is `pc`.
    fn system_call_in_code(&self, pc: Addr, space: &dyn AddressSpace) -> Option<u64>;

    /// Makes the registers unknown that a function need not preserve.
    fn forget_scratch(&self, regs: &mut Regs);

    /// A code address without what is no part of the address.
    fn strip_code(&self, at: Addr) -> Addr {
        at
    }

    /// Whether the instruction at `at` is the system call by which a signal handler returns.
    fn is_signal_restorer(&self, at: Addr, space: &dyn AddressSpace) -> bool;

    /// Whether `at` is what the first function on a stack of Boost.Context's kind returns to: code without
    /// unwind information that ends the process.
    fn is_end_of_context(&self, at: Addr, space: &dyn AddressSpace) -> bool;

    /// Whether a stack of Boost.Context's kind that nothing ran on begins with these registers. `cfa` is its
    /// stack pointer.
    fn begins_context(&self, regs: &Regs, cfa: Addr, space: &dyn AddressSpace) -> bool;

    /// The registers that the signal frame at `regs` saved, for a restorer without unwind
    /// information.
    fn interrupted_regs(&self, regs: &Regs, space: &dyn AddressSpace) -> Option<Regs>;

    /// The registers that the `ucontext_t` at `context` holds.
    fn context_regs(&self, context: Addr, space: &dyn AddressSpace) -> Option<Regs>;

    /// Where the `ucontext_t` of a signal frame lies, by the stack pointer when its handler has
    /// returned.
    fn signal_context(&self, stack_pointer: Addr) -> Option<Addr>;

    /// The `ucontext_t` whose saved stack pointer lies at `slot`. The saved pc follows right behind.
    fn context_of_saved_stack_pointer(&self, slot: Addr) -> Option<Addr>;

    /// Where the `siginfo_t` of the signal frame with that `ucontext_t` lies. The kernel writes it only for
    /// handlers with `SA_SIGINFO`; else the bytes are whatever was there.
    fn signal_info(&self, context: Addr) -> Option<Addr>;

    /// All that the `ucontext_t` at `context` holds.
    ///
    /// # Errors
    /// When it was not dumped whole.
    fn saved_context(&self, context: Addr, space: &dyn AddressSpace)
    -> Result<SavedContext, Fault>;

    /// Whether the instruction before `at` is a call, so that `at` can be a return address.
    fn follows_call(&self, at: Addr, space: &dyn AddressSpace) -> bool;

    /// The function that the call before `at`, a return address, calls, where the instruction says it itself.
    fn called_before(&self, at: Addr, space: &dyn AddressSpace) -> Option<Addr>;

    /// What the call before `at`, a return address, leaves of its caller, if it calls a function that goes to
    /// another stack. `caller` is the function that called, as far as it is known: where it calls through a
    /// register, its code tells which function.
    fn switch_before(
        &self,
        at: Addr,
        caller: Option<AddrRange>,
        space: &dyn AddressSpace,
    ) -> Option<Switch>;

    /// The caller's registers right after a call, before its target ran: the caller of a call to
    /// where there is no code. Gives the CFA too.
    fn caller_at_entry(&self, regs: &Regs, space: &dyn AddressSpace) -> Option<(Regs, Addr)>;

    /// Where the code at `at` jumps, if it does nothing else: a stub of the linker, a thunk.
    fn jump_at(&self, at: Addr, space: &dyn AddressSpace) -> Option<Addr>;

    /// The general registers that a function must preserve, by their DWARF numbers, without the stack pointer.
    fn preserved(&self) -> &'static [u16];

    /// The first instruction of `bytes`, which lie at `at`; `None` where they are none that is known.
    fn instruction(&self, bytes: &[u8], at: Addr) -> Option<Instruction>;

    /// What the instructions from the start of `function` to `pc` did to the stack; `function` may be
    /// one before the wanted one. Code may be read in several ways, the likeliest comes first.
    fn read_code(&self, pc: Addr, function: AddrRange, space: &dyn AddressSpace) -> Vec<Reading>;

    /// The caller's registers by what was read of the code at the pc: the first whose caller and CFA
    /// are plausible.
    fn caller_by_code(
        &self,
        regs: &Regs,
        readings: &[Reading],
        space: &dyn AddressSpace,
        is_plausible: &dyn Fn(&Regs, Addr) -> bool,
    ) -> Option<(Regs, Addr)>;

    /// The caller's registers by the frame pointer. Gives the CFA too, where the frame pointer
    /// tells it.
    fn caller_by_frame_pointer(
        &self,
        regs: &Regs,
        space: &dyn AddressSpace,
    ) -> Option<(Regs, Option<Addr>)>;

    /// The frame pointer of a frame, as `$C` shows it.
    fn frame_pointer_of(&self, regs: &Regs, cfa: Option<Addr>) -> Option<Addr>;
}

/// The machine of a target, where the walker knows it. `code_mask`: the bits of code addresses
/// that hold authentication codes, if the core says so.
pub fn machine(target: Target, code_mask: Option<u64>) -> Option<Box<dyn Machine>> {
    match (target.arch, target.word, target.endian) {
        (Arch::X86_64, 8, Endian::Little) => Some(Box::new(x86_64::X86_64)),
        (Arch::Aarch64, 8, Endian::Little) => Some(Box::new(aarch64::Aarch64::new(code_mask))),
        _ => None,
    }
}
