//! Registers of a minidump, in the order in which the kernel writes them.

mod other;
mod x86;

use kcore_mem::{Arch, Target};
use minidump::MinidumpRawContext;

use crate::target_bytes::TargetBytes;

/// Says in the place of a system call's number that there was none that is known.
const NO_CALL: u64 = u64::MAX;

const NT_FPREGSET: u32 = 2;

/// The registers of a thread.
pub struct SavedRegisters {
    /// As `pr_reg` of `NT_PRSTATUS` (`elf_gregset_t`).
    pub general: Vec<u8>,
    /// Notes of other registers: owner, type and descriptor.
    pub others: Vec<(&'static [u8], u32, Vec<u8>)>,
}

/// The registers of a context; `None` of one for another machine.
pub fn of(context: &MinidumpRawContext, target: Target) -> Option<SavedRegisters> {
    Some(match context {
        MinidumpRawContext::Amd64(raw) => x86::of_amd64(raw, target),
        MinidumpRawContext::X86(raw) => x86::of_x86(raw, target),
        MinidumpRawContext::Arm(raw) => other::of_arm(raw, target),
        MinidumpRawContext::Arm64(raw) => {
            let floating = floating_arm64(&raw.float_regs, raw.fpsr, raw.fpcr);
            of_arm64(&raw.iregs, [raw.sp, raw.pc, raw.cpsr.into()], floating, target)
        }
        MinidumpRawContext::OldArm64(raw) => {
            let floating = floating_arm64(&raw.float_regs, raw.fpsr, raw.fpcr);
            of_arm64(&raw.iregs, [raw.sp, raw.pc, raw.cpsr.into()], floating, target)
        }
        _ => return None,
    })
}

/// The registers of a machine whose contexts the crate `minidump` does not read, or not all, of their bytes.
pub fn of_bytes(context: &[u8], target: Target) -> Option<SavedRegisters> {
    match target.arch {
        Arch::Mips | Arch::Mips64 => other::of_mips(context, target),
        Arch::Riscv64 | Arch::Riscv32 => other::of_riscv(context, target),
        _ => None,
    }
}

fn of_arm64(general: &[u64], own: [u64; 3], floating: Vec<u8>, target: Target) -> SavedRegisters {
    let general = words(general.iter().copied().chain(own), target);
    SavedRegisters { general, others: vec![(b"CORE", NT_FPREGSET, floating)] }
}

/// As `user_fpsimd_state` (`asm/ptrace.h`): v0 to v31, then fpsr and fpcr, padded to 528 bytes.
fn floating_arm64(registers: &[u128; 32], fpsr: u32, fpcr: u32) -> Vec<u8> {
    let mut bytes: Vec<u8> = registers.iter().flat_map(|register| register.to_le_bytes()).collect();
    bytes.extend_from_slice(&fpsr.to_le_bytes());
    bytes.extend_from_slice(&fpcr.to_le_bytes());
    bytes.resize(528, 0);
    bytes
}

/// Registers as wide as a pointer, one after another.
fn words(values: impl IntoIterator<Item = u64>, target: Target) -> Vec<u8> {
    let mut bytes = TargetBytes::new(target);
    for value in values {
        bytes.word(value);
    }
    bytes.finish()
}

/// `struct elf_prstatus` (`linux/elfcore.h`): signal at 0 and 12, then the thread and the registers, by the word size at 32 and
/// 112 or at 24 and 72, then whether there are floating-point registers.
pub fn prstatus(tid: u32, signal: u32, general: &[u8], target: Target) -> Vec<u8> {
    let is_wide = target.word_size() == 8;
    let (thread, registers) = if is_wide { (32, 112) } else { (24, 72) };
    let mut status = TargetBytes::new(target);
    status.u32(signal).zeros_to(12).u16(u16::try_from(signal).unwrap_or_default());
    status.zeros_to(thread).u32(tid).zeros_to(registers).raw(general).word(1);
    status.finish()
}

#[cfg(test)]
mod tests {
    use kcore_mem::Endian;

    use super::*;

    #[test]
    fn notes_are_as_long_as_those_of_the_kernel() {
        let of = |arch, word| Target { arch, endian: Endian::Little, word };
        let len = |registers: usize, target: Target| {
            prstatus(1, 11, &words(vec![0; registers], target), target).len()
        };
        assert_eq!(len(27, Target::X86_64), 336);
        assert_eq!(len(34, of(Arch::Aarch64, 8)), 392);
        assert_eq!(len(17, of(Arch::I386, 4)), 144);
        assert_eq!(len(18, of(Arch::Arm, 4)), 148);
        assert_eq!(len(45, of(Arch::Mips, 4)), 256);
        assert_eq!(len(45, of(Arch::Mips64, 8)), 480);
        assert_eq!(len(32, of(Arch::Riscv64, 8)), 376);
        assert_eq!(floating_arm64(&[0; 32], 0, 0).len(), 528);
    }
}
