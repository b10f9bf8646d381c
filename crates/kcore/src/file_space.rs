//! The files of modules as an address space: what they say, whatever the core holds.

use kcore_mem::{Addr, AddressSpace, Fault, Origin, Region, Target};

use crate::Core;

/// The bytes of the modules' files, at the addresses where the process had them mapped.
pub struct FileSpace<'a>(&'a Core);

impl Core {
    /// The files of the modules, without what the core holds.
    pub const fn file_space(&self) -> FileSpace<'_> {
        FileSpace(self)
    }
}

impl AddressSpace for FileSpace<'_> {
    fn target(&self) -> Target {
        self.0.target()
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let module = self.0.modules().at(at).ok_or(Fault::Unmapped(at))?;
        let bytes = module.svma(at).and_then(|svma| module.image()?.bytes_at(svma));
        bytes.filter(|bytes| !bytes.is_empty()).ok_or(Fault::NotDumped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at)?;
        let verified = self.0.modules().at(at).is_some_and(|module| module.is_verified());
        Ok(if verified { Origin::ModuleFile } else { Origin::UnverifiedFile })
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}
