//! What the target machine is: architecture, word size, byte order.

use std::fmt;

/// Byte order of the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

/// Architecture of the target: the `e_machine` of its ELF files, and the width of its words where that makes
/// another instruction set or another interface of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Arch {
    /// `EM_X86_64`, 62.
    X86_64,
    /// `EM_AARCH64`, 183.
    Aarch64,
    /// `EM_386`, 3.
    I386,
    /// `EM_ARM`, 40.
    Arm,
    /// `EM_RISCV`, 243, of 64 bits.
    Riscv64,
    /// `EM_RISCV`, 243, of 32 bits.
    Riscv32,
    /// `EM_PPC`, 20.
    PowerPc,
    /// `EM_PPC64`, 21.
    PowerPc64,
    /// `EM_S390`, 22, of 64 bits.
    S390x,
    /// `EM_S390`, 22, of 31 bits.
    S390,
    /// `EM_MIPS`, 8, of 32 bits: the interface o32.
    Mips,
    /// `EM_MIPS`, 8, with registers of 64 bits: the interface n64, and n32, whose words have 32.
    Mips64,
    /// `EM_LOONGARCH`, 258, of 64 bits.
    LoongArch64,
    /// `EM_SPARCV9`, 43.
    Sparc64,
    /// `EM_68K`, 4.
    M68k,
    /// `EM_ALPHA`, 0x9026.
    Alpha,
    /// `EM_PARISC`, 15, of 32 bits.
    Hppa,
    /// Any other `e_machine`.
    Other(u16),
}

/// What the ELF header of each architecture says: `e_machine`, bytes in a word, and the usual name.
const MACHINES: &[(u16, u8, Arch, &str)] = &[
    (62, 8, Arch::X86_64, "x86-64"),
    (183, 8, Arch::Aarch64, "aarch64"),
    (3, 4, Arch::I386, "i386"),
    (40, 4, Arch::Arm, "arm"),
    (243, 8, Arch::Riscv64, "riscv64"),
    (243, 4, Arch::Riscv32, "riscv32"),
    (20, 4, Arch::PowerPc, "powerpc"),
    (21, 8, Arch::PowerPc64, "powerpc64"),
    (22, 8, Arch::S390x, "s390x"),
    (22, 4, Arch::S390, "s390"),
    (8, 4, Arch::Mips, "mips"),
    (8, 8, Arch::Mips64, "mips64"),
    (258, 8, Arch::LoongArch64, "loongarch64"),
    (43, 8, Arch::Sparc64, "sparc64"),
    (4, 4, Arch::M68k, "m68k"),
    (0x9026, 8, Arch::Alpha, "alpha"),
    (15, 4, Arch::Hppa, "hppa"),
];

impl Arch {
    /// The architecture that an ELF header names by its `e_machine` and, through `EI_CLASS`, by the bytes in a
    /// word.
    pub fn from_elf(machine: u16, word: u8) -> Self {
        // Programs of x32 and of ILP32 have registers of 64 bits, and so the machine of 64 bits.
        let is_wide = matches!(machine, 62 | 183);
        let word = if is_wide { 8 } else { word };
        let found = MACHINES.iter().find(|it| (it.0, it.1) == (machine, word));
        found.map_or(Self::Other(machine), |it| it.2)
    }

    /// The `e_machine` of its ELF files.
    pub fn elf_machine(self) -> u16 {
        match self {
            Self::Other(machine) => machine,
            known => MACHINES.iter().find(|it| it.2 == known).map_or(0, |it| it.0),
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, MACHINES.iter().find(|it| it.2 == *self)) {
            (_, Some((.., name))) => f.write_str(name),
            (Self::Other(machine), None) => write!(f, "ELF machine {machine}"),
            (_, None) => Ok(()),
        }
    }
}

/// All that a typed read needs to know of the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Target {
    /// Architecture.
    pub arch: Arch,
    /// Byte order.
    pub endian: Endian,
    /// Bytes in a pointer: 4 or 8.
    pub word: u8,
}

impl Target {
    /// A little-endian x86-64 process.
    pub const X86_64: Self = Self { arch: Arch::X86_64, endian: Endian::Little, word: 8 };

    /// Bytes in a pointer.
    pub const fn word_size(self) -> usize {
        self.word as usize
    }

    /// Bytes in a general register, and so in the place where a function saves one: more than in a pointer in
    /// programs of x32 and n32.
    pub const fn register_size(self) -> usize {
        match self.arch {
            Arch::X86_64 | Arch::Aarch64 | Arch::Mips64 => 8,
            _ => self.word as usize,
        }
    }

    /// The unsigned integer that eight bytes hold in the target's byte order.
    pub const fn uint64(self, bytes: [u8; 8]) -> u64 {
        match self.endian {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        }
    }

    /// The unsigned integer that `bytes` (at most 8 of them) hold in the target's byte order.
    pub fn uint(self, bytes: &[u8]) -> u64 {
        let fold = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        match self.endian {
            Endian::Little => bytes.iter().rev().fold(0, fold),
            Endian::Big => bytes.iter().fold(0, fold),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_of_a_word_tells_machines_apart_that_share_a_number() {
        assert_eq!(Arch::from_elf(243, 8), Arch::Riscv64);
        assert_eq!(Arch::from_elf(243, 4), Arch::Riscv32);
        assert_eq!(Arch::from_elf(62, 4), Arch::X86_64, "x32");
        assert_eq!(Arch::from_elf(21, 4), Arch::Other(21), "no such machine");
        for (machine, word, arch, name) in MACHINES {
            assert_eq!(Arch::from_elf(*machine, *word), *arch);
            assert_eq!((arch.elf_machine(), arch.to_string()), (*machine, (*name).to_owned()));
        }
        assert_eq!(Arch::Other(7).to_string(), "ELF machine 7");
    }

    #[test]
    fn integers_follow_the_target_and_not_the_host() {
        let big = Target { endian: Endian::Big, ..Target::X86_64 };
        assert_eq!(Target::X86_64.uint(&[1, 2, 0, 0]), 0x201);
        assert_eq!(big.uint(&[1, 2, 0, 0]), 0x0102_0000);
        assert_eq!(big.uint(&[]), 0);
    }
}
