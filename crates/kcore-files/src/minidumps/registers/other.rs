//! Registers of Arm, MIPS and RISC-V (Linux `arch/arm/include/uapi/asm/ptrace.h`, `arch/mips/include/uapi/asm/reg.h`,
//! `arch/riscv/include/uapi/asm/ptrace.h`).

use kcore_mem::{Arch, Cursor, Target};
use minidump::format::CONTEXT_ARM;

use super::{NO_CALL, NT_FPREGSET, SavedRegisters, words};
use crate::target_bytes::TargetBytes;

/// `struct user_vfp` (`linux/elf.h`).
const NT_ARM_VFP: u32 = 0x400;
/// Words in `elf_gregset_t` of MIPS.
const MIPS_WORDS: usize = 45;
/// General registers of MIPS.
const MIPS_REGISTERS: usize = 32;
/// Bytes of three more pairs of `hi` and `lo`, of the extension's control register, and of padding.
const MIPS_EXTENSION: usize = 32;
/// Bytes of 32 registers, `fcsr` and `fir`.
const MIPS_FLOATING: usize = 264;
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

/// As `elf_gregset_t` and `elf_fpregset_t`, of the bytes of a context (`minidump_cpu_mips.h`): flags, general registers, `hi`
/// and `lo`, those of the extension for signals, `epc`, `badvaddr`, `status`, `cause`, then floating point. All have 64 bits but
/// the flags, the extension's, `status` and `cause`.
pub fn of_mips(context: &[u8], target: Target) -> Option<SavedRegisters> {
    let mut cursor = Cursor::new(context, target);
    cursor.skip(8).ok()?;
    let general = cursor.bytes(MIPS_REGISTERS.checked_mul(8)?).ok()?;
    let (hi, lo) = (cursor.uint(8).ok()?, cursor.uint(8).ok()?);
    cursor.skip(MIPS_EXTENSION).ok()?;
    let (epc, badvaddr) = (cursor.uint(8).ok()?, cursor.uint(8).ok()?);
    let (status, cause) = (cursor.u32().ok()?, cursor.u32().ok()?);
    let floating = cursor.bytes(MIPS_FLOATING).ok()?.to_vec();
    let padding = if target.arch == Arch::Mips { MIPS32_PADDING } else { 0 };
    let general = general.chunks(8).map(|register| target.uint(register));
    let special = [lo, hi, epc, badvaddr, status.into(), cause.into()];
    let all = std::iter::repeat_n(0, padding).chain(general).chain(special);
    let all = all.chain(std::iter::repeat(0)).take(MIPS_WORDS);
    let others = vec![(&b"CORE"[..], NT_FPREGSET, floating)];
    Some(SavedRegisters { general: words(all, target), others })
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

#[cfg(test)]
mod tests {
    use kcore_mem::Endian;

    use super::*;

    #[test]
    fn contexts_of_riscv_have_the_registers_in_the_order_of_the_kernel() {
        let target = Target { arch: Arch::Riscv64, endian: Endian::Little, word: 8 };
        let mut context = TargetBytes::new(target);
        context.u32(0x0800_0003).u32(0);
        (1..=64).for_each(|value| _ = context.uint(value, 8));
        context.u32(7);
        let context = context.finish();
        let saved = of_riscv(&context, target).unwrap();
        assert_eq!(saved.general, words(1..=32, target));
        let (_, kind, floating) = &saved.others[0];
        assert_eq!((*kind, floating.len(), floating[256]), (NT_FPREGSET, 264, 7));
        assert!(of_riscv(&context[..300], target).is_none());
    }

    #[test]
    fn contexts_of_mips_are_told_by_either_width() {
        let of = |arch, word| {
            let target = Target { arch, endian: Endian::Big, word };
            let mut context = TargetBytes::new(target);
            context.zeros_to(8);
            (1..=34).for_each(|value| _ = context.uint(value, 8));
            context.zeros_to(8 + 34 * 8 + 32).uint(0x1234, 8).uint(5, 8).u32(6).u32(7);
            let len = context.len() + MIPS_FLOATING;
            context.zeros_to(len);
            let saved = of_mips(&context.finish(), target).unwrap();
            (saved.general, target)
        };
        let special = [34, 33, 0x1234, 5, 6, 7];
        let (general, target) = of(Arch::Mips, 4);
        let expected = std::iter::repeat_n(0, 6).chain(1..=32).chain(special).chain([0]);
        assert_eq!(general, words(expected, target));
        let (general, target) = of(Arch::Mips64, 8);
        let expected = (1..=32).chain(special).chain(std::iter::repeat_n(0, 7));
        assert_eq!(general, words(expected, target));
    }
}
