//! What an instruction computes of registers, and loads by what it computes.

use kcore_mem::Addr;

use crate::Disassembler;

/// How an instruction comes to the whole value that it leaves in a general register. Registers have gdb's names in 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Computation {
    /// It is a sum of whole registers: that of one register alone is a copy.
    Sum(RegisterSum),
    /// It is the lower half of another register, extended.
    Extended {
        /// That register; it may be the one that is written.
        from: String,
        /// Whether the number has a sign.
        is_signed: bool,
    },
    /// It is another register times a number.
    Multiplied {
        /// That register; it may be the one that is written.
        from: String,
        /// The number.
        by: u64,
    },
    /// It is a number in memory, extended if it is less than a word.
    Loaded {
        /// Where that lies.
        at: RegisterSum,
        /// Its bytes.
        size: u8,
        /// Whether the number has a sign.
        is_signed: bool,
    },
}

/// A sum of registers, of which one may be multiplied, and a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterSum {
    /// The register that is added as it is.
    pub base: Option<String>,
    /// The register that is multiplied, and by what.
    pub index: Option<(String, u64)>,
    /// The number. Where there is no register, it is the sum.
    pub displacement: i64,
}

impl Disassembler {
    /// Where the instruction at `addr`, the first of `bytes`, moves a whole general register to in memory, and which register.
    /// `None` if it does something else.
    pub fn stored_register(&self, addr: Addr, bytes: &[u8]) -> Option<(RegisterSum, String)> {
        self.with_instruction(addr, bytes, |decoded| {
            self.machine().stored_register(self.capstone(), decoded)
        })?
    }

    /// What the instruction at `addr`, the first of `bytes`, computes for a general register. `None` if it leaves that
    /// register alone, or does something else.
    pub fn computation(&self, addr: Addr, bytes: &[u8], register: &str) -> Option<Computation> {
        self.with_instruction(addr, bytes, |decoded| {
            self.machine().computation(self.capstone(), decoded, register)
        })?
    }
}
