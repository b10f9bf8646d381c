//! Registers of Arm, MIPS and RISC-V (Linux `arch/arm/include/uapi/asm/ptrace.h`, `arch/mips/include/uapi/asm/reg.h`,
//! `arch/riscv/include/uapi/asm/ptrace.h`).

use kcore_mem::{Arch, Cursor, Target};
use minidump::format::{CONTEXT_ARM, CONTEXT_MIPS};

use super::{NO_CALL, NT_FPREGSET, SavedRegisters, words};
use crate::target_bytes::TargetBytes;

/// `struct user_vfp` (`linux/elf.h`).
const NT_ARM_VFP: u32 = 0x400;
/// Words in `elf_gregset_t` of MIPS.
const MIPS_WORDS: usize = 45;
/// Words before the first register of MIPS with 32 bits.
const MIPS32_PADDING: usize = 6;
/// General registers of RISC-V, pc in the place of the zero, and as many for floating point.
const RISCV_REGISTERS: usize = 32;

/// As `pt_regs`, and `user_vfp`. Breakpad writes none of the latter, which it leaves at zero.
pub fn of_arm(raw: &CONTEXT_ARM, target: Target) -> SavedRegisters {
    let general = raw.iregs.iter().map(|register| u64::from(*register));
    let general = general.chain([raw.cpsr.into(), NO_CALL]);
    let mut others = Vec::new();
    if raw.float_save.regs.iter().any(|register| *register != 0) {
        let mut bytes = TargetBytes::new(target);
        raw.float_save.regs.iter().for_each(|register| _ = bytes.uint(*register, 8));
        bytes.uint(raw.float_save.fpscr, 4);
        others.push((&b"LINUX"[..], NT_ARM_VFP, bytes.finish()));
    }
    SavedRegisters { general: words(general, target), others }
}

/// As `elf_gregset_t` and `elf_fpregset_t`.
pub fn of_mips(raw: &CONTEXT_MIPS, target: Target) -> SavedRegisters {
    let padding = if target.arch == Arch::Mips { MIPS32_PADDING } else { 0 };
    let special = [raw.mdlo, raw.mdhi, raw.epc, raw.badvaddr, raw.status.into(), raw.cause.into()];
    let general = std::iter::repeat_n(0, padding).chain(raw.iregs).chain(special);
    let general = general.chain(std::iter::repeat(0)).take(MIPS_WORDS);
    let mut floating = TargetBytes::new(target);
    raw.float_save.regs.iter().for_each(|register| _ = floating.uint(*register, 8));
    floating.u32(raw.float_save.fpcsr).u32(raw.float_save.fir);
    let others = vec![(&b"CORE"[..], NT_FPREGSET, floating.finish())];
    SavedRegisters { general: words(general, target), others }
}

/// As `user_regs_struct` and `__riscv_d_ext_state`, in the same order as a minidump has them behind its flags and version
/// (`minidump_cpu_riscv.h`). Floating point of 32 bits is no `__riscv_d_ext_state` and is left out.
pub fn of_riscv(context: &[u8], target: Target) -> Option<SavedRegisters> {
    let mut cursor = Cursor::new(context, target);
    cursor.skip(8).ok()?;
    let general = cursor.bytes(RISCV_REGISTERS.checked_mul(target.word_size())?).ok()?.to_vec();
    let mut others = Vec::new();
    if target.arch == Arch::Riscv64 {
        let mut floating = cursor.bytes(RISCV_REGISTERS.checked_mul(8)?).ok()?.to_vec();
        floating.extend_from_slice(cursor.bytes(4).ok()?);
        floating.extend_from_slice(&[0; 4]);
        others.push((&b"CORE"[..], NT_FPREGSET, floating));
    }
    Some(SavedRegisters { general, others })
}
