//! The memory of a core with what the executable's file adds to it, for reading the link map: the
//! name of the dynamic linker there is the executable's own `PT_INTERP`, which cores leave out.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, Fault, Origin, Region, Svma, Target};

use crate::{CoreSpace, Image};

/// A file, and what is added to its addresses where it is mapped.
pub struct PlacedFile {
    pub file: Arc<Image>,
    pub bias: i64,
}

/// The space of a core, and an executable's file that is mapped in it.
pub struct WithExe<'a> {
    /// What the core holds, which counts first.
    pub core: &'a CoreSpace,
    /// The file.
    pub exe: Option<PlacedFile>,
}

impl AddressSpace for WithExe<'_> {
    fn target(&self) -> Target {
        self.core.target()
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        self.core.slice(at).or_else(|fault| {
            let PlacedFile { file, bias } = self.exe.as_ref().ok_or(fault)?;
            let svma = Svma::new(at.get().wrapping_sub_signed(*bias));
            let changed = file.segments().iter().any(|segment| segment.may_have_changed(svma));
            file.bytes_at(svma).filter(|_| !changed).ok_or(fault)
        })
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.core.origin(at).or_else(|_| self.slice(at).map(|_| Origin::UnverifiedFile))
    }

    fn regions(&self) -> Vec<Region> {
        self.core.regions()
    }
}
