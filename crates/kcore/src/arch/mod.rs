//! What depends on the architecture, beside unwinding and disassembly. Every such fact stands in
//! its folder.

mod aarch64;
mod arm;
mod blocked_call;
mod common_syscalls;
mod described;
mod fp_layout;
mod i386;
mod mips;
mod powerpc;
mod s390;
mod variant_one;
mod x86_64;

use kcore_mem::{Addr, AddressSpace, Arch, Svma, Target};
use kcore_unwind::UserRegister;

use crate::jump_buffer::JumpLayout;

pub use aarch64::{Aarch64FpRegisters, ScalableRegisters};
pub use blocked_call::CallRegisters;
pub use fp_layout::{PlainFpRegister, read as read_fp_registers};
pub use x86_64::{VectorRegister, VectorUse, X86FpRegisters, X87Register};

/// What is known of an architecture.
pub struct ArchFacts {
    /// Names of the system calls that this architecture numbers on its own, in ascending order.
    system_calls: &'static [(u64, &'static str)],
    /// The number of the first of them: those that all architectures share count from there too.
    first_system_call: u64,
    /// What it means when SIGSEGV comes from the kernel without an address.
    pub segv_without_address: &'static str,
    /// Instructions that the processor refuses without an address, if the kernel or the values of registers forbid them.
    pub protected: &'static [&'static str],
    /// The register that points to thread-local storage.
    pub thread_pointer: &'static str,
    /// Where thread-local storage lies.
    pub tls: Option<TlsLayout>,
    /// What C libraries put into a jump buffer.
    pub jump: Option<JumpLayout>,
    /// The exceptions that a context of a signal tells.
    pub exceptions: Exceptions,
    /// How threads wait in the kernel, and how code calls functions of other modules.
    pub calls: Option<CallFacts>,
}

/// How threads wait in the kernel, and how code calls functions of other modules.
pub struct CallFacts {
    /// The system call that a thread is blocked in, by its registers; `None` if they do not prove that it is.
    pub blocked: fn(&[UserRegister], &dyn AddressSpace) -> Option<CallRegisters>,
    /// The function that the call before a return address leads to, through the stub of a linkage table too.
    pub callee: fn(Addr, &dyn AddressSpace) -> Option<Addr>,
    /// Where glibc's `struct pthread` keeps the thread's id, from the thread pointer; `None` if that varies.
    pub glibc_tid: Option<u64>,
    /// Where musl's does.
    pub musl_tid: Option<u64>,
}

/// The machine's exceptions by the numbers that a context has, and the signals that they become.
pub struct Exceptions {
    /// The one of a memory fault; `None` where contexts have no number, but the address alone.
    pub page_fault: Option<u64>,
    /// Others: number, signal, and its code.
    pub others: &'static [(u64, u16, i32)],
}

/// Where thread-local storage lies.
pub struct TlsLayout {
    /// The distance of the executable's block from the thread pointer, from address, size and
    /// alignment of its first image.
    pub exe_offset: fn(Svma, u64, u64) -> i64,
    /// The block at a distance from the thread pointer.
    pub static_block: fn(Addr, i64) -> Addr,
    /// Where glibc keeps the pointer to a thread's vector of blocks, from the thread pointer.
    pub glibc_dtv: i64,
    /// Where musl does.
    pub musl_dtv: i64,
    /// Whether the C library's structure of a thread ends at the thread pointer, and does not
    /// begin there.
    pub thread_is_below_pointer: bool,
    /// Bytes between the end of that structure and the thread pointer.
    pub beyond_structure: u64,
    /// The distance of `errno` from the thread pointer by the code of `__errno_location`, where it is
    /// a field of the thread's structure.
    pub errno_offset: fn(&[u8]) -> Option<i64>,
}

impl ArchFacts {
    const UNKNOWN: Self = Self {
        system_calls: &[],
        first_system_call: 0,
        segv_without_address: "",
        protected: &[],
        thread_pointer: "",
        tls: None,
        jump: None,
        exceptions: Exceptions { page_fault: None, others: &[] },
        calls: None,
    };

    /// The name of system call `number`.
    pub fn system_call(&self, number: u64) -> Option<&'static str> {
        let find = |number: u64, names: &[(u64, &'static str)]| {
            let index = names.binary_search_by_key(&number, |(number, _)| *number).ok()?;
            names.get(index).map(|(_, name)| *name)
        };
        // Of an architecture that is not supported nothing is known.
        let own = Some(self.system_calls).filter(|names| !names.is_empty())?;
        find(number, own)
            .or_else(|| find(number.checked_sub(self.first_system_call)?, common_syscalls::NAMES))
    }
}

/// What is known of the architecture of a target: nothing, for one that is not supported.
pub const fn facts(target: Target) -> &'static ArchFacts {
    match (target.arch, target.word) {
        (Arch::X86_64, 4) => &described::X32,
        (Arch::Mips64, 4) => &described::MIPS_N32,
        (arch, _) => of_arch(arch),
    }
}

/// What is known of an architecture with its usual width of words.
pub const fn of_arch(arch: Arch) -> &'static ArchFacts {
    match arch {
        Arch::X86_64 => &x86_64::FACTS,
        Arch::Aarch64 => &aarch64::FACTS,
        Arch::I386 => &described::I386,
        Arch::Arm => &described::ARM,
        Arch::Riscv64 => &described::RISCV64,
        Arch::LoongArch64 => &described::LOONGARCH64,
        Arch::PowerPc64 => &described::POWERPC64,
        Arch::PowerPc => &described::POWERPC,
        Arch::S390x => &described::S390X,
        Arch::Mips => &described::MIPS,
        Arch::Mips64 => &described::MIPS64,
        _ => &ArchFacts::UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_which_threads_wait_have_their_names() {
        let x86_64 = |number| of_arch(Arch::X86_64).system_call(number);
        assert_eq!((x86_64(202), x86_64(232)), (Some("futex"), Some("epoll_wait")));
        assert_eq!((x86_64(0), x86_64(100_000)), (Some("read"), None));
        assert_eq!((x86_64(435), x86_64(441)), (Some("clone3"), Some("epoll_pwait2")));
        let aarch64 = |number| of_arch(Arch::Aarch64).system_call(number);
        assert_eq!((aarch64(98), aarch64(22)), (Some("futex"), Some("epoll_pwait")));
        assert_eq!((aarch64(115), aarch64(0)), (Some("clock_nanosleep"), Some("io_setup")));
        assert_eq!((aarch64(435), aarch64(449)), (Some("clone3"), Some("futex_waitv")));
        let number = |arch, number| of_arch(arch).system_call(number);
        assert_eq!(number(Arch::I386, 240), Some("futex"));
        assert_eq!(
            (number(Arch::Arm, 240), number(Arch::S390x, 238)),
            (Some("futex"), Some("futex"))
        );
        assert_eq!(
            (number(Arch::PowerPc64, 221), number(Arch::Riscv64, 98)),
            (Some("futex"), Some("futex"))
        );
        assert_eq!(
            (number(Arch::Mips, 4238), number(Arch::Mips64, 5194)),
            (Some("futex"), Some("futex"))
        );
        assert_eq!((number(Arch::Mips, 4435), number(Arch::Mips, 435)), (Some("clone3"), None));
        let narrow =
            |arch, number| facts(Target { arch, word: 4, ..Target::X86_64 }).system_call(number);
        assert_eq!(narrow(Arch::X86_64, 514), Some("ioctl"));
        assert_eq!(
            (narrow(Arch::Mips64, 6211), narrow(Arch::Mips64, 5211)),
            (Some("rt_sigreturn"), None)
        );
        let other = of_arch(Arch::Other(8));
        assert_eq!((other.system_call(0), other.system_call(435)), (None, None));
    }

    #[test]
    fn tables_are_sorted_for_the_search() {
        let all = [Arch::I386, Arch::Arm, Arch::PowerPc, Arch::PowerPc64, Arch::S390x, Arch::Mips];
        for arch in all.into_iter().chain([Arch::Mips64, Arch::X86_64, Arch::Aarch64]) {
            assert!(of_arch(arch).system_calls.is_sorted_by(|(a, _), (b, _)| a < b));
        }
        assert!(mips::NAMES_N32.is_sorted_by(|(a, _), (b, _)| a < b));
        assert!(common_syscalls::NAMES.is_sorted_by(|(a, _), (b, _)| a < b));
    }
}
