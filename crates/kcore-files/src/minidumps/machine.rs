//! Which machine a minidump is of.

use kcore_mem::{Arch, Endian, Target};
use minidump::{
    MinidumpSystemInfo,
    system_info::{Cpu, Os},
};

/// Machines that the crate `minidump` has no name for: numbers of Breakpad (`minidump_format.h`).
const RISCV: u16 = 0x8005;
const RISCV64: u16 = 0x8006;

/// The machine and the byte order of a minidump.
///
/// # Errors
/// Of another system than Linux or Android, and of a machine that no writer for these has: in words.
pub fn target_of(system: &MinidumpSystemInfo, endian: Endian) -> Result<Target, String> {
    match system.os {
        Os::Linux | Os::Android => {}
        os => return Err(format!("a minidump of {os}: kcore reads those of Linux and Android")),
    }
    let (arch, word) = match system.cpu {
        Cpu::X86_64 => (Arch::X86_64, 8),
        Cpu::Arm64 => (Arch::Aarch64, 8),
        Cpu::X86 => (Arch::I386, 4),
        Cpu::Arm => (Arch::Arm, 4),
        Cpu::Mips => (Arch::Mips, 4),
        Cpu::Mips64 => (Arch::Mips64, 8),
        Cpu::Unknown(RISCV) => (Arch::Riscv32, 4),
        Cpu::Unknown(RISCV64) => (Arch::Riscv64, 8),
        Cpu::Unknown(number) => return Err(refused(&format!("machine {number:#x}"))),
        cpu => return Err(refused(&cpu.to_string())),
    };
    Ok(Target { arch, endian, word })
}

fn refused(machine: &str) -> String {
    format!(
        "a minidump of {machine}: kcore reads those of x86, x86-64, arm, aarch64, mips, mips64, riscv32 and riscv64"
    )
}

/// What a core of a minidump of this machine lacks for its kind.
pub const fn lacks(arch: Arch) -> &'static str {
    match arch {
        Arch::X86_64 | Arch::I386 | Arch::Aarch64 => {
            "the core is a minidump, which has no system call, no base of thread-local storage (shown as 0) and no signals of threads that did not crash"
        }
        Arch::Arm => {
            "the core is a minidump, which has no system call, no signals of threads that did not crash and, where Breakpad wrote it, no cpsr of these (shown as 0)"
        }
        Arch::Mips | Arch::Mips64 => {
            "the core is a minidump, which has no system call, no signals of threads that did not crash and, where Breakpad wrote it, no badvaddr, status and cause (shown as 0)"
        }
        _ => {
            "the core is a minidump, which has no system call and no signals of threads that did not crash"
        }
    }
}
