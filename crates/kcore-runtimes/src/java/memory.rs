//! Fields of objects in the memory of the process.

use kcore_mem::{Addr, AddressSpace};

/// The memory of the process, whose structures are read field by field.
#[derive(Clone, Copy)]
pub struct Memory<'a>(pub &'a dyn AddressSpace);

impl Memory<'_> {
    /// An unsigned number of `size` bytes that lies so far into an object.
    pub fn uint(self, at: Addr, offset: u64, size: usize) -> Option<u64> {
        self.0.read_uint(at.checked_add(offset)?, size).ok()
    }

    /// A pointer that lies so far into an object, and is not null.
    pub fn pointer(self, at: Addr, offset: u64) -> Option<Addr> {
        self.0.read_addr(at.checked_add(offset)?).ok().filter(|to| to.get() != 0)
    }

    /// A signed number of 32 bits.
    pub fn int(self, at: Addr, offset: u64) -> Option<i32> {
        Some(self.uint(at, offset, 4)? as u32 as i32)
    }
}
