//! Registers by the names that Breakpad has for them, in DWARF's numbers (`src/common/dwarf_cfi_to_module.cc`).

use kcore_mem::Arch;

const X86_64: &[&str] = &[
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15", "rip",
];
const I386: &[&str] = &["eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip"];
const ARM: &[&str] = &[
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr",
    "pc",
];
const ARM64: &[&str] = &[
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
    "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
    "x28", "x29", "x30", "sp",
];
const MIPS: &[&str] = &[
    "zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2", "t3", "t4", "t5", "t6",
    "t7", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "fp",
    "ra",
];
const RISCV: &[&str] = &[
    "pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5",
    "t6",
];

/// The registers of a machine.
#[derive(Clone, Copy)]
pub struct Registers {
    names: &'static [&'static str],
    /// The number of the one whose rule leads to the caller.
    pub return_address: u64,
}

impl Registers {
    /// Those of a machine; `None` of one for which Breakpad writes no rules.
    pub const fn of(arch: Arch) -> Option<Self> {
        let (names, return_address) = match arch {
            Arch::X86_64 => (X86_64, 16),
            Arch::I386 => (I386, 8),
            Arch::Arm => (ARM, 14),
            Arch::Aarch64 => (ARM64, 30),
            Arch::Mips | Arch::Mips64 => (MIPS, 31),
            Arch::Riscv32 | Arch::Riscv64 => (RISCV, 1),
            _ => return None,
        };
        Some(Self { names, return_address })
    }

    /// The number of a register; `.ra` is the one that leads to the caller.
    pub fn number(&self, name: &[u8]) -> Option<u64> {
        if name == b".ra" {
            return Some(self.return_address);
        }
        let name = name.strip_prefix(b"$").unwrap_or(name);
        let at = self.names.iter().position(|known| known.as_bytes() == name)?;
        u64::try_from(at).ok()
    }
}
