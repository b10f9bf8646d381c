//! One decoded instruction.

use kcore_mem::{Addr, AddrRange};

/// Where the machine goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next one.
    Next,
    /// Elsewhere; the address when the instruction states it.
    Jump(Option<Addr>),
    /// Elsewhere or to the next one.
    CondJump(Option<Addr>),
    /// Into a function that may come back to the next one.
    Call(Option<Addr>),
    /// Back to the caller.
    Return,
    /// Nowhere: it stops the program, or is no instruction.
    Trap,
}

impl Flow {
    /// The address that the instruction states, if it does.
    pub const fn target(self) -> Option<Addr> {
        match self {
            Self::Jump(target) | Self::CondJump(target) | Self::Call(target) => target,
            Self::Next | Self::Return | Self::Trap => None,
        }
    }

    /// Whether it calls a function.
    pub const fn is_call(self) -> bool {
        matches!(self, Self::Call(_))
    }
}

/// One decoded instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where it begins.
    pub addr: Addr,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What it is called, with prefixes: `movq`, `rep stosq`. `.byte` (x86-64) or `.inst`
    /// (aarch64) for what is no instruction.
    pub mnemonic: String,
    /// Its operands without blanks after commas: `%rsp,%rbp`; empty when it has none. The target
    /// of a direct jump stands there as a number.
    pub operands: String,
    /// Where the machine goes next.
    pub flow: Flow,
    /// The address that an operand states relative to the instruction: of rip-relative memory
    /// (x86-64), of a literal or a page (aarch64).
    pub reference: Option<Addr>,
}

impl Instruction {
    /// Its length in bytes.
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it has no bytes; never true of a decoded one.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The first address after it.
    pub const fn end(&self) -> Addr {
        self.addr.saturating_add(self.bytes.len() as u64)
    }

    /// The addresses that it lies at.
    pub const fn range(&self) -> AddrRange {
        AddrRange::new(self.addr, self.end())
    }
}
