//! Memory for tests: code at one place, and nothing else.

use kcore_mem::{Addr, AddressSpace, Arch, Fault, Origin, Region, Target};

/// Where the code lies.
pub const CODE: u64 = 0x1000;

/// Code at [`CODE`].
pub struct CodeMemory {
    target: Target,
    bytes: Vec<u8>,
}

impl CodeMemory {
    /// Code of a machine.
    pub fn new(arch: Arch, bytes: Vec<u8>) -> Self {
        Self::of(Target { arch, ..Target::X86_64 }, bytes)
    }

    /// Code of a machine with a width and an order of bytes of its own.
    pub fn of(target: Target, bytes: Vec<u8>) -> Self {
        Self { target, bytes }
    }
}

impl AddressSpace for CodeMemory {
    fn target(&self) -> Target {
        self.target
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let offset = at.get().checked_sub(CODE).ok_or(Fault::Unmapped(at))?;
        let rest = self.bytes.get(offset as usize..).filter(|rest| !rest.is_empty());
        rest.ok_or(Fault::Unmapped(at))
    }

    fn origin(&self, _: Addr) -> Result<Origin, Fault> {
        Ok(Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}
