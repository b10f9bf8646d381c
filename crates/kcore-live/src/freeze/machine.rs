//! What the freeze must know of the machine, which is that of kcore itself.

/// Bytes of the largest set of general registers (`struct user_pt_regs` of aarch64).
pub const GENERAL_SIZE: usize = 272;
/// Bytes of the largest set of floating-point registers (`struct user_fpsimd_state` of aarch64).
pub const FLOATING_SIZE: usize = 528;
/// Bytes of extended registers: AVX-512 and AMX are the largest today, with 11008.
pub const EXTENDED_SIZE: usize = 16 << 10;

/// Whether this is x86-64; else it is aarch64.
pub const IS_X86: bool = cfg!(target_arch = "x86_64");

/// Bytes below the stack pointer that a function may use without moving it (the red zone of the
/// System V ABI for x86-64).
pub const BELOW_STACK_POINTER: u64 = if IS_X86 { 128 } else { 0 };

/// The stack pointer in a set of general registers: `rsp` is number 19 of `struct user_regs_struct`,
/// `sp` number 31 of `struct user_pt_regs`.
pub fn stack_pointer(general: &[u8]) -> Option<u64> {
    word(general, if IS_X86 { 19 } else { 31 })
}

/// The program counter in a set of general registers: `rip` is number 16 of `struct user_regs_struct`,
/// `pc` number 32 of `struct user_pt_regs`.
pub fn program_counter(general: &[u8]) -> Option<u64> {
    word(general, if IS_X86 { 16 } else { 32 })
}

/// The number of the system call that a thread makes: `orig_rax` is number 15 of `struct user_regs_struct`, `x8` number 8
/// of `struct user_pt_regs`.
pub fn call_number(general: &[u8]) -> Option<u64> {
    word(general, if IS_X86 { 15 } else { 8 })
}

/// What a system call has answered: `rax` is number 10, `x0` number 0.
pub fn call_answer(general: &[u8]) -> Option<i64> {
    word(general, if IS_X86 { 10 } else { 0 }).map(u64::cast_signed)
}

/// The arguments of a system call that has answered: `rdi`, `rsi`, `rdx`, `r10`, `r8`, `r9`. On aarch64 the answer has
/// taken the place of the first, so none is told.
pub fn call_arguments(general: &[u8]) -> Vec<u64> {
    const X86: [usize; 6] = [14, 13, 12, 7, 9, 8];
    let places: &[usize] = if IS_X86 { &X86 } else { &[] };
    places.iter().filter_map(|place| word(general, *place)).collect()
}

fn word(general: &[u8], index: usize) -> Option<u64> {
    let at = index.checked_mul(8)?;
    general.get(at..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
}

/// How samples of the kernel have registers, and where these stand in a set of general registers.
#[derive(Debug)]
pub struct SampleRegisters {
    /// Which of them are asked for (`PERF_REG_X86_*`, `PERF_REG_ARM64_*`).
    pub mask: u64,
    /// For each, lowest bit first, the word of the set.
    pub order: &'static [usize],
    /// A set without any: of x86-64 `orig_rax` says that no system call is being made.
    pub empty: &'static [u64],
}

/// Linux `arch/x86/include/uapi/asm/perf_regs.h`: ax bx cx dx si di bp sp ip flags cs ss, then from bit 16
/// r8 to r15.
#[cfg(target_arch = "x86_64")]
pub const REGISTERS: SampleRegisters = SampleRegisters {
    mask: 0x00ff_0fff,
    order: &[10, 5, 11, 12, 13, 14, 4, 19, 16, 18, 17, 20, 9, 8, 7, 6, 3, 2, 1, 0],
    empty: &{
        let mut set = [0; 27];
        set[15] = u64::MAX;
        set
    },
};

/// Linux `arch/arm64/include/uapi/asm/perf_regs.h`: x0 to x30, sp, pc, as in the set.
#[cfg(not(target_arch = "x86_64"))]
pub const REGISTERS: SampleRegisters = SampleRegisters {
    mask: (1 << 33) - 1,
    order: &[
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
        25, 26, 27, 28, 29, 30, 31, 32,
    ],
    empty: &[0; 34],
};
