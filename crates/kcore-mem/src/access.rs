//! What an instruction does to memory.

use crate::Addr;

/// What is done to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read and written by one instruction; the machine reports it as a write.
    ReadWrite,
    /// It is fetched as an instruction.
    Execute,
}

impl AccessKind {
    /// The word for it in a sentence about a crash: «reading».
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "reading",
            Self::Write => "writing",
            Self::ReadWrite => "reading and writing",
            Self::Execute => "executing",
        }
    }
}

/// One access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// First address.
    pub addr: Addr,
    /// Bytes; at least 1.
    pub size: u64,
    /// What is done.
    pub kind: AccessKind,
}

impl Access {
    /// Whether the access touches `at`. Accesses wrap at the end of the address space, as a small
    /// negative offset from a null pointer does.
    pub const fn touches(&self, at: Addr) -> bool {
        at.get().wrapping_sub(self.addr.get()) < self.size
    }

    /// Whether no 48-bit page table can hold the address; the kernel then does not say which
    /// address it was.
    pub const fn is_non_canonical(&self) -> bool {
        const UPPER_HALF: u64 = 0xffff_8000_0000_0000;
        let upper = self.addr.get() & UPPER_HALF;
        upper != 0 && upper != UPPER_HALF
    }
}
