//! What depends on the machine. Every fact about an architecture stands in its folder.

mod aarch64;
mod alpha;
mod arm;
mod described;
mod hppa;
mod i386;
mod loongarch;
mod m68k;
mod mips;
mod powerpc;
mod riscv;
mod s390;
mod sparc;
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

    /// Whether a caller's stack pointer is the CFA where unwind information says nothing of it; else it is the
    /// stack pointer of the frame.
    fn stack_pointer_is_cfa(&self) -> bool {
        true
    }

    /// Whether what the start of a function tells needs no frame pointer to prove it: on machines where the ABI keeps
    /// none, one of 0 does not tell that a frame is the outermost.
    fn trusts_prologues(&self) -> bool {
        false
    }

    /// Whether unwind information that tells of a signal frame leads out of it. Some kernels mark their frames
    /// and say nothing more: then the code alone tells.
    fn trusts_signal_rows(&self) -> bool {
        true
    }

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

    /// Adds the floating-point registers of `NT_FPREGSET` to those from which a walk starts, where functions keep
    /// general registers of their callers in them.
    fn add_fp_registers(&self, regs: &mut Regs, bytes: &[u8], target: Target) {
        let _ = (regs, bytes, target);
    }

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

    /// Where a function returns to, by what its call left as return address.
    fn returns_to(&self, link: Addr) -> Addr {
        self.strip_code(link)
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

    /// Where the `ucontext_t` of a signal frame lies, by the code that the handler returns to, and the stack
    /// pointer then. `None` for a frame without one: some machines save no more than registers for a handler
    /// that does not ask for a `siginfo_t`.
    fn signal_context(
        &self,
        restorer: Addr,
        stack_pointer: Addr,
        space: &dyn AddressSpace,
    ) -> Option<Addr>;

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

    /// Whether a return, and no call, may have led to a place where there is no code, so that the caller at the
    /// entry is a guess: the link register may tell of an earlier call.
    fn may_have_returned(&self, _regs: &Regs, _space: &dyn AddressSpace) -> bool {
        false
    }

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

    /// The caller's registers and the CFA by the exception table of the code's module, on machines that have one.
    /// `is_return` tells whether a call stands before the pc.
    fn caller_by_table(
        &self,
        table: AddrRange,
        (regs, is_return): (&Regs, bool),
        space: &dyn AddressSpace,
    ) -> Option<(Regs, Addr)> {
        let _ = (table, regs, is_return, space);
        None
    }

    /// Whether the frame at `regs`, which called another one, is the outermost by the chain of frames.
    fn ends_chain(&self, regs: &Regs, space: &dyn AddressSpace) -> bool {
        let _ = (regs, space);
        false
    }

    /// Whether stacks grow to higher addresses: callers lie below, where nothing is looked for.
    fn grows_upwards(&self) -> bool {
        false
    }

    /// Whether the ABI wants every function that calls another one to link its frame to that of its caller, so that
    /// [`Machine::caller_by_frame_pointer`] is right for all frames that called.
    fn links_frames(&self) -> bool {
        false
    }

    /// The frame pointer of a frame, as `$C` shows it.
    fn frame_pointer_of(&self, regs: &Regs, cfa: Option<Addr>) -> Option<Addr>;
}

/// The machine of a target, where the walker knows it. `code_mask`: the bits of code addresses
/// that hold authentication codes, if the core says so.
pub fn machine(target: Target, code_mask: Option<u64>) -> Option<Box<dyn Machine>> {
    match (target.arch, target.word, target.endian) {
        (Arch::X86_64, _, Endian::Little) => Some(Box::new(x86_64::X86_64::new(target))),
        (Arch::Aarch64, 8, Endian::Little) => Some(Box::new(aarch64::Aarch64::new(code_mask))),
        _ => {
            let description = described_machine(target)?;
            Some(Box::new(described::Described::new(description, target)))
        }
    }
}

/// The description of a machine that is told by one.
const fn described_machine(target: Target) -> Option<&'static described::Description> {
    Some(match (target.arch, target.word, target.endian) {
        (Arch::I386, 4, Endian::Little) => &i386::MACHINE,
        (Arch::Arm, 4, _) => &arm::MACHINE,
        (Arch::Riscv64, 8, Endian::Little) => &riscv::RISCV64,
        (Arch::Riscv32, 4, Endian::Little) => &riscv::RISCV32,
        (Arch::PowerPc, 4, _) => &powerpc::POWERPC,
        (Arch::PowerPc64, 8, _) => &powerpc::POWERPC64,
        (Arch::S390x, 8, Endian::Big) => &s390::S390X,
        (Arch::S390, 4, Endian::Big) => &s390::S390,
        (Arch::Mips, 4, _) => &mips::O32,
        (Arch::Mips64, 8, _) => &mips::N64,
        (Arch::Mips64, _, _) => &mips::N32,
        (Arch::LoongArch64, 8, Endian::Little) => &loongarch::MACHINE,
        (Arch::Sparc64, 8, Endian::Big) => &sparc::MACHINE,
        (Arch::M68k, 4, Endian::Big) => &m68k::MACHINE,
        (Arch::Alpha, 8, Endian::Little) => &alpha::MACHINE,
        (Arch::Hppa, 4, Endian::Big) => &hppa::MACHINE,
        _ => return None,
    })
}

/// The register that unwind and debug information of an architecture names by a number. A register that no walk
/// needs has a number that is not kept.
pub const fn register_of_dwarf(arch: Arch, number: u16) -> RegisterId {
    const NOT_KEPT: u16 = u16::MAX;
    match (arch, number) {
        (Arch::X86_64 | Arch::Aarch64 | Arch::Other(_), _) | (_, 0..=31) => RegisterId(number),
        (Arch::PowerPc | Arch::PowerPc64, _) => powerpc::register_of_dwarf(number),
        (Arch::S390x | Arch::S390, _) => s390::register_of_dwarf(number),
        _ => RegisterId(NOT_KEPT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_memory::{CODE, CodeMemory};

    const ALL: [(Arch, u8, Endian); 20] = [
        (Arch::I386, 4, Endian::Little),
        (Arch::Arm, 4, Endian::Little),
        (Arch::Arm, 4, Endian::Big),
        (Arch::Riscv64, 8, Endian::Little),
        (Arch::Riscv32, 4, Endian::Little),
        (Arch::PowerPc, 4, Endian::Big),
        (Arch::PowerPc64, 8, Endian::Little),
        (Arch::PowerPc64, 8, Endian::Big),
        (Arch::S390x, 8, Endian::Big),
        (Arch::S390, 4, Endian::Big),
        (Arch::Mips, 4, Endian::Big),
        (Arch::Mips, 4, Endian::Little),
        (Arch::Mips64, 8, Endian::Little),
        (Arch::Mips64, 4, Endian::Little),
        (Arch::Mips64, 4, Endian::Big),
        (Arch::LoongArch64, 8, Endian::Little),
        (Arch::Sparc64, 8, Endian::Big),
        (Arch::M68k, 4, Endian::Big),
        (Arch::Alpha, 8, Endian::Little),
        (Arch::Hppa, 4, Endian::Big),
    ];

    fn each() -> impl Iterator<Item = (Target, &'static described::Description, Box<dyn Machine>)> {
        ALL.into_iter().map(|(arch, word, endian)| {
            let target = Target { arch, word, endian };
            let description = described_machine(target).unwrap();
            (target, description, machine(target, None).unwrap())
        })
    }

    #[test]
    fn registers_that_are_written_are_read_again() {
        for (target, description, machine) in each() {
            let mut regs = Regs::new(Addr::new(0x1_0000));
            for (index, (_, register)) in (1_u64..).zip(description.names) {
                regs.set(*register, Some(index.wrapping_mul(0x10)));
            }
            let bytes = machine.pr_reg(&regs, None, None);
            assert_eq!(bytes.len(), description.pr_reg, "{}", target.arch);
            let again = machine.regs(&bytes, target).unwrap();
            assert_eq!(again.pc(), regs.pc(), "{}", target.arch);
            let user = machine.user_registers(&bytes, target);
            for (name, register) in description.names {
                if user.iter().any(|it| it.name == *name) {
                    assert_eq!(again.get(*register), regs.get(*register), "{} {name}", target.arch);
                }
            }
            assert!(machine.regs(&bytes[1..], target).is_none(), "another size is not misread");
        }
    }

    #[test]
    fn what_walks_need_is_named_and_kept() {
        for (target, description, _) in each() {
            let wanted = [Some(description.stack_pointer), description.link];
            for register in wanted.into_iter().flatten() {
                let is_named = description.names.iter().any(|(_, known)| *known == register);
                assert!(is_named && usize::from(register.0) < Regs::COUNT, "{}", target.arch);
            }
            let numbers: Vec<_> =
                description.names.iter().map(|(_, register)| register.0).collect();
            let mut unique = numbers.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(unique.len(), numbers.len(), "{}", target.arch);
            let has = |name: &str| {
                description
                    .layout
                    .read(&vec![0; description.pr_reg], target)
                    .iter()
                    .any(|it| it.name == name)
            };
            assert!(has(description.pc), "{}", target.arch);
            for (_, whole) in description.other_names {
                assert!(has(whole), "{} {whole}", target.arch);
            }
        }
    }

    #[test]
    fn high_numbers_of_unwind_information_name_registers_that_are_kept() {
        let of = |arch, number| register_of_dwarf(arch, number).0;
        assert_eq!((of(Arch::PowerPc64, 65), of(Arch::PowerPc, 67)), (32, 35));
        assert_eq!((of(Arch::S390x, 65), of(Arch::S390x, 31)), (33, 31));
        assert_eq!((of(Arch::Mips, 32), of(Arch::PowerPc64, 33)), (u16::MAX, u16::MAX));
        assert_eq!((of(Arch::Aarch64, 34), of(Arch::X86_64, 49)), (34, 49));
    }

    #[test]
    fn a_signal_frame_of_registers_alone_has_no_context() {
        for (target, description, machine) in each() {
            for frame in description.signal_frames.iter().filter(|frame| !frame.has_context) {
                let bytes = [frame.code, &[0; 1024]].concat();
                let space = CodeMemory::of(target, bytes);
                let (at, sp) = (Addr::new(CODE), Addr::new(CODE + 64));
                assert!(machine.is_signal_restorer(at, &space), "{}", target.arch);
                assert_eq!(machine.signal_context(at, sp, &space), None, "{}", target.arch);
            }
        }
        let target = Target { arch: Arch::Arm, word: 4, endian: Endian::Little };
        let space = CodeMemory::of(target, vec![0xad, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef]);
        let context = machine(target, None).unwrap().signal_context(
            Addr::new(CODE),
            Addr::new(0x8000),
            &space,
        );
        assert_eq!(context, Some(Addr::new(0x8000 + 128)));
    }

    #[test]
    fn a_register_below_the_first_number_holds_no_system_call() {
        let wide =
            [(8, 5000), (4, 6000)].map(|(word, first)| (Arch::Mips64, word, Endian::Little, first));
        for (arch, word, endian, first) in
            [(Arch::Mips, 4, Endian::Big, 4000)].into_iter().chain(wide)
        {
            let target = Target { arch, word, endian };
            let machine = machine(target, None).unwrap();
            let code = if endian == Endian::Big { [0, 0, 0, 0x0c] } else { [0x0c, 0, 0, 0] };
            let space = CodeMemory::of(target, [code, [0; 4]].concat());
            let v0 = described_machine(target).unwrap().register("v0").unwrap();
            let call = |number: u64| {
                let mut regs = Regs::new(Addr::new(CODE + 4));
                regs.set(v0, Some(number));
                machine.system_call(&machine.pr_reg(&regs, None, None), target, &space)
            };
            assert_eq!(
                (call(first), call(first - 1), call(0)),
                (Some(first), None, None),
                "{arch}"
            );
        }
    }

    #[test]
    fn a_link_register_of_arm_is_proven_by_a_call_through_a_register() {
        let target = Target { arch: Arch::Arm, word: 4, endian: Endian::Little };
        let machine = machine(target, None).unwrap();
        let may_have_returned = |code: [u8; 4], link: u64, held: u64| {
            let space = CodeMemory::of(target, [code, [0; 4]].concat());
            let mut regs = Regs::new(Addr::new(0x4140));
            regs.set(RegisterId(14), Some(link));
            regs.set(RegisterId(3), Some(held));
            machine.may_have_returned(&regs, &space)
        };
        let (arm, thumb) = ([0x33, 0xff, 0x2f, 0xe1], [0, 0xbf, 0x98, 0x47]);
        assert!(!may_have_returned(arm, CODE + 4, 0x4140), "blx r3");
        assert!(!may_have_returned(thumb, CODE + 5, 0x4141), "blx r3");
        assert!(may_have_returned(arm, CODE + 4, 0x4144), "of another function");
        assert!(may_have_returned([0xfe, 0xff, 0xff, 0xeb], CODE + 4, 0x4140), "bl");
        assert!(may_have_returned([0xff, 0xf7, 0xfe, 0xff], CODE + 5, 0x4140), "bl");
    }

    #[test]
    fn code_that_is_not_known_is_no_call() {
        for (target, _, machine) in each() {
            let space = CodeMemory::of(target, vec![0; 32]);
            let at = Addr::new(CODE + 16);
            // A word of zeros is a call on none.
            assert!(!machine.follows_call(at, &space), "{}", target.arch);
            assert!(!machine.is_signal_restorer(at, &space), "{}", target.arch);
            assert!(!machine.follows_call(Addr::new(4), &space), "{}", target.arch);
        }
    }

    #[test]
    fn a_context_of_x32_has_shorter_words_before_its_registers() {
        let target = Target { word: 4, ..Target::X86_64 };
        let machine = machine(target, None).unwrap();
        // Flags, link, stack, its flags and its size, padding; then registers of eight bytes.
        let words = [1_u32, 0, 0x4060_0000, 2, 0x8000, 0].map(u32::to_le_bytes).concat();
        let registers = (0..33_u64).flat_map(|index| (0x1_0000 + index).to_le_bytes());
        let space = CodeMemory::of(target, words.into_iter().chain(registers).collect());
        let at = Addr::new(CODE);
        let regs = machine.context_regs(at, &space).unwrap();
        assert_eq!((regs.pc(), regs.get(RegisterId(7))), (Addr::new(0x1_0010), Some(0x1_000f)));
        let saved = machine.saved_context(at, &space).unwrap();
        assert_eq!((saved.stack, saved.stack_size), (Addr::new(0x4060_0000), 0x8000));
        assert_eq!((saved.fault_address, saved.mask), (Addr::new(0x1_0016), 0x1_0020));
        assert_eq!(machine.signal_info(at), Some(Addr::new(CODE + 288)));
        let slot = Addr::new(CODE + 24 + 15 * 8);
        assert_eq!(machine.context_of_saved_stack_pointer(slot), Some(at));
        let restorer = vec![0x48, 0xc7, 0xc0, 0x01, 0x02, 0x00, 0x40, 0x0f, 0x05];
        let space = CodeMemory::of(target, restorer);
        assert!(machine.is_signal_restorer(at, &space));
    }

    #[test]
    fn numbers_of_system_calls_of_x32_are_without_their_mark() {
        let target = Target { word: 4, ..Target::X86_64 };
        let machine = machine(target, None).unwrap();
        let code = vec![0xb8, 0xca, 0x00, 0x00, 0x40, 0x0f, 0x05];
        let space = CodeMemory::of(target, code);
        let pc = Addr::new(CODE + 7);
        assert_eq!(machine.system_call_in_code(pc, &space), Some(202));
        let bytes = machine.pr_reg(&Regs::new(pc), Some(0x4000_00ca), None);
        assert_eq!(machine.system_call(&bytes, target, &space), Some(202));
    }

    #[test]
    fn a_link_that_leads_to_zero_is_the_last() {
        let target = Target { arch: Arch::PowerPc64, word: 8, endian: Endian::Little };
        let machine = machine(target, None).unwrap();
        assert!(machine.links_frames());
        let ends = |above: u64, link: u64| {
            let words = [above, 0, 0, 0, 0, 0, link, 0].map(u64::to_le_bytes).concat();
            let space = CodeMemory::of(target, words);
            let mut regs = Regs::new(Addr::new(0x1000));
            regs.set(machine.stack_pointer(), Some(CODE));
            machine.ends_chain(&regs, &space)
        };
        assert_eq!((ends(0, 7), ends(CODE + 32, 0), ends(CODE + 32, 7)), (true, true, false));
    }
}
