//! Memory for tests: code at one place, and nothing else.

use kcore_mem::{Addr, AddressSpace, Arch, Fault, Origin, Region, Target};

/// Where the code lies.
pub const CODE: u64 = 0x1000;

/// Code at [`CODE`].
pub struct CodeMemory {
    arch: Arch,
    bytes: Vec<u8>,
}

impl CodeMemory {
    /// Code of a machine.
    pub fn new(arch: Arch, bytes: Vec<u8>) -> Self {
        Self { arch, bytes }
    }
}

impl AddressSpace for CodeMemory {
    fn target(&self) -> Target {
        Target { arch: self.arch, ..Target::X86_64 }
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
