//! Registers of a minidump, in the order in which the kernel writes them.

use minidump::{MinidumpRawContext, format::CONTEXT_AMD64};

/// Says in the place of a system call's number that there was none that is known.
const NO_CALL: u64 = u64::MAX;

/// The registers of a thread.
pub struct SavedRegisters {
    /// As `pr_reg` of `NT_PRSTATUS` (`elf_gregset_t`).
    pub general: Vec<u64>,
    /// As `NT_FPREGSET`.
    pub floating: Vec<u8>,
}

/// The registers of a context; `None` of one for another machine.
pub fn of(context: &MinidumpRawContext) -> Option<SavedRegisters> {
    match context {
        MinidumpRawContext::Amd64(raw) => {
            Some(SavedRegisters { general: of_amd64(raw), floating: raw.float_save.to_vec() })
        }
        MinidumpRawContext::Arm64(raw) => {
            let own = [raw.sp, raw.pc, u64::from(raw.cpsr)];
            Some(SavedRegisters {
                general: raw.iregs.iter().copied().chain(own).collect(),
                floating: floating_arm64(&raw.float_regs, raw.fpsr, raw.fpcr),
            })
        }
        MinidumpRawContext::OldArm64(raw) => {
            let own = [raw.sp, raw.pc, u64::from(raw.cpsr)];
            Some(SavedRegisters {
                general: raw.iregs.iter().copied().chain(own).collect(),
                floating: floating_arm64(&raw.float_regs, raw.fpsr, raw.fpcr),
            })
        }
        _ => None,
    }
}

/// As `user_regs_struct` (`asm/user_64.h`). A minidump holds no base of `fs` and `gs`.
fn of_amd64(raw: &CONTEXT_AMD64) -> Vec<u64> {
    let segment = |word: u16| u64::from(word);
    vec![
        raw.r15,
        raw.r14,
        raw.r13,
        raw.r12,
        raw.rbp,
        raw.rbx,
        raw.r11,
        raw.r10,
        raw.r9,
        raw.r8,
        raw.rax,
        raw.rcx,
        raw.rdx,
        raw.rsi,
        raw.rdi,
        NO_CALL,
        raw.rip,
        segment(raw.cs),
        u64::from(raw.eflags),
        raw.rsp,
        segment(raw.ss),
        0,
        0,
        segment(raw.ds),
        segment(raw.es),
        segment(raw.fs),
        segment(raw.gs),
    ]
}

/// As `user_fpsimd_state` (`asm/ptrace.h`): v0 to v31, then fpsr and fpcr, padded to 528 bytes.
fn floating_arm64(registers: &[u128; 32], fpsr: u32, fpcr: u32) -> Vec<u8> {
    let mut bytes: Vec<u8> = registers.iter().flat_map(|register| register.to_le_bytes()).collect();
    bytes.extend_from_slice(&fpsr.to_le_bytes());
    bytes.extend_from_slice(&fpcr.to_le_bytes());
    bytes.resize(528, 0);
    bytes
}

/// `struct elf_prstatus` (`linux/elfcore.h`): signal at 0 and 12, thread at 32, registers at 112, then whether there are
/// floating-point registers.
pub fn prstatus(tid: u32, signal: u32, general: &[u64]) -> Vec<u8> {
    let mut status = signal.to_le_bytes().to_vec();
    status.resize(12, 0);
    let short = u16::try_from(signal).unwrap_or_default();
    status.extend_from_slice(&short.to_le_bytes());
    status.resize(32, 0);
    status.extend_from_slice(&tid.to_le_bytes());
    status.resize(112, 0);
    status.extend(general.iter().flat_map(|word| word.to_le_bytes()));
    status.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0]);
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_as_long_as_those_of_the_kernel() {
        assert_eq!(prstatus(1, 11, &[0; 27]).len(), 336);
        assert_eq!(prstatus(1, 11, &[0; 34]).len(), 392);
        assert_eq!(floating_arm64(&[0; 32], 0, 0).len(), 528);
    }
}
