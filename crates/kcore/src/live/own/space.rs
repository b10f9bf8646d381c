//! The process's own memory as an address space, for what only reads headers.

use kcore_live::LivePages;
use kcore_mem::{Addr, AddressSpace, Fault, Origin, Region, Target};

/// Memory that is read page by page, each once.
pub struct OwnSpace<'a> {
    pub pages: &'a LivePages,
    pub target: Target,
}

impl AddressSpace for OwnSpace<'_> {
    fn target(&self) -> Target {
        self.target
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        self.pages.slice(at).ok_or(Fault::Unmapped(at))
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Live)
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}
