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

fn word(general: &[u8], index: usize) -> Option<u64> {
    let at = index.checked_mul(8)?;
    general.get(at..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes))
}
