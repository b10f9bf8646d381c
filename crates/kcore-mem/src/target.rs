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

/// Architecture of the target, by the `e_machine` of its ELF files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Arch {
    /// `EM_X86_64`, 62.
    X86_64,
    /// `EM_AARCH64`, 183.
    Aarch64,
    /// Any other `e_machine`.
    Other(u16),
}

impl Arch {
    /// The architecture that an ELF header's `e_machine` names.
    pub const fn from_elf_machine(machine: u16) -> Self {
        match machine {
            62 => Self::X86_64,
            183 => Self::Aarch64,
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::X86_64 => f.write_str("x86-64"),
            Self::Aarch64 => f.write_str("aarch64"),
            Self::Other(machine) => match elf_machine_name(*machine) {
                Some(name) => f.write_str(name),
                None => write!(f, "ELF machine {machine}"),
            },
        }
    }
}

/// The usual name of an `e_machine` that kcore does not support (gABI, `e_machine`).
const fn elf_machine_name(machine: u16) -> Option<&'static str> {
    Some(match machine {
        3 => "i386",
        4 => "m68k",
        8 => "mips",
        20 => "powerpc",
        21 => "powerpc64",
        22 => "s390",
        40 => "arm",
        43 => "sparc64",
        243 => "riscv",
        258 => "loongarch",
        _ => return None,
    })
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
    fn integers_follow_the_target_and_not_the_host() {
        let big = Target { endian: Endian::Big, ..Target::X86_64 };
        assert_eq!(Target::X86_64.uint(&[1, 2, 0, 0]), 0x201);
        assert_eq!(big.uint(&[1, 2, 0, 0]), 0x0102_0000);
        assert_eq!(big.uint(&[]), 0);
    }
}
