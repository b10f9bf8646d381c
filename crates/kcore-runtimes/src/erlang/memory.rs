//! The memory of a process, read as Erlang's virtual machine lays it out.

use kcore_mem::{Addr, AddressSpace};

use super::layout::Layout;

/// The memory of a process, and how the virtual machine lays it out.
#[derive(Clone, Copy)]
pub struct Memory<'a> {
    /// Its memory.
    pub space: &'a dyn AddressSpace,
    /// The layout.
    pub layout: &'static Layout,
}

impl Memory<'_> {
    /// A word at an offset.
    pub fn word(&self, at: Addr, offset: u64) -> Option<u64> {
        self.space.read_word(at.checked_add(offset)?).ok()
    }

    /// The word of an index in an array.
    pub fn element(&self, array: Addr, index: u64) -> Option<u64> {
        self.word(array, index.checked_mul(8)?)
    }

    /// A number of `size` bytes at an offset.
    pub fn uint(&self, at: Addr, offset: u64, size: usize) -> Option<u64> {
        self.space.read_uint(at.checked_add(offset)?, size).ok()
    }

    /// A number of 4 bytes at an offset.
    pub fn uint32(&self, at: Addr, offset: u64) -> Option<u32> {
        u32::try_from(self.uint(at, offset, 4)?).ok()
    }

    /// The pointer at an offset, if it is one.
    pub fn pointer(&self, at: Addr, offset: u64) -> Option<Addr> {
        self.word(at, offset).map(Addr::new).filter(|at| at.get() != 0)
    }
}
