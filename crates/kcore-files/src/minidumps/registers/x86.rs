//! Registers of x86-64 and i386 (Linux `arch/x86/include/uapi/asm/ptrace.h`, `asm/user_32.h`, `asm/user_64.h`).

use kcore_mem::Target;
use minidump::format::{CONTEXT_AMD64, CONTEXT_X86, FLOATING_SAVE_AREA_X86};

use super::{NO_CALL, NT_FPREGSET, SavedRegisters, words};
use crate::target_bytes::TargetBytes;

/// The registers in the format of the `FXSAVE` instruction (`linux/elf.h`).
const NT_PRXFPREG: u32 = 0x46e6_2b7f;
/// The flags of an x86 context that say which of its parts were written (`minidump_cpu_x86.h`).
const FLOATING_POINT: u32 = 0x8;
const EXTENDED_REGISTERS: u32 = 0x20;

/// As `user_regs_struct` and `user_i387_struct`. A minidump holds no base of `fs` and `gs`.
pub fn of_amd64(raw: &CONTEXT_AMD64, target: Target) -> SavedRegisters {
    let segment = |word: u16| u64::from(word);
    let general = [
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
    ];
    let floating = (&b"CORE"[..], NT_FPREGSET, raw.float_save.to_vec());
    SavedRegisters { general: words(general, target), others: vec![floating] }
}

/// As `user_regs_struct`, `user_i387_struct` and, where the writer had them, `user_fxsr_struct`.
pub fn of_x86(raw: &CONTEXT_X86, target: Target) -> SavedRegisters {
    let general = [
        raw.ebx, raw.ecx, raw.edx, raw.esi, raw.edi, raw.ebp, raw.eax, raw.ds, raw.es, raw.fs,
        raw.gs,
    ];
    let special = [raw.eip, raw.cs, raw.eflags, raw.esp, raw.ss];
    let general = general.iter().map(|register| u64::from(*register)).chain([NO_CALL]);
    let general = general.chain(special.iter().map(|register| u64::from(*register)));
    let mut others = Vec::new();
    if raw.context_flags & FLOATING_POINT != 0 {
        others.push((&b"CORE"[..], NT_FPREGSET, floating_x86(&raw.float_save, target)));
    }
    if raw.context_flags & EXTENDED_REGISTERS != 0 {
        others.push((&b"LINUX"[..], NT_PRXFPREG, raw.extended_registers.to_vec()));
    }
    SavedRegisters { general: words(general, target), others }
}

fn floating_x86(raw: &FLOATING_SAVE_AREA_X86, target: Target) -> Vec<u8> {
    let mut bytes = TargetBytes::new(target);
    bytes.u32(raw.control_word).u32(raw.status_word).u32(raw.tag_word);
    bytes.u32(raw.error_offset).u32(raw.error_selector);
    bytes.u32(raw.data_offset).u32(raw.data_selector).raw(&raw.register_area);
    bytes.finish()
}
