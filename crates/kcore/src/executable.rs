//! Where the parts of the executable lie: what MDB's variables `b`, `d`, `e`, `m` and `t` say.

use kcore_elf::ImageSegment;
use kcore_mem::{Addr, AddrRange};

use crate::{Module, ProcessView};

impl ProcessView<'_> {
    /// The first writable segment of the executable, as the process had it mapped.
    pub fn executable_data(self) -> Option<AddrRange> {
        let exe = self.core.modules().exe()?;
        segment(exe, |segment| segment.is_writable())
    }

    /// The first executable segment of the executable.
    pub fn executable_text(self) -> Option<AddrRange> {
        let exe = self.core.modules().exe()?;
        segment(exe, |segment| segment.is_executable())
    }

    /// The first four bytes of the executable's file as an integer of the target; `None` without
    /// the file.
    pub fn executable_magic(self) -> Option<u32> {
        let image = self.core.modules().exe()?.image()?;
        let first = image.segments().iter().find(|segment| segment.offset.get() == 0)?;
        let bytes = image.bytes_at(first.svma)?.get(..4)?;
        u32::try_from(self.core.target().uint(bytes)).ok()
    }
}

fn segment(module: &Module, wanted: impl Fn(&ImageSegment) -> bool) -> Option<AddrRange> {
    let mut segments = module.image()?.segments().iter();
    let segment = segments.find(|segment| segment.is_load() && wanted(segment))?;
    let start = module.addr(segment.svma)?;
    let end = Addr::new(start.get().checked_add(segment.mem_size)?);
    Some(AddrRange { start, end })
}
