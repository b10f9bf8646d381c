//! Numbers in memory, one after the other: the mapping that holds them is looked for once.

use kcore_mem::{Addr, AddressSpace};

/// Reads numbers that lie near each other.
#[derive(Clone)]
pub struct Words<'a> {
    space: &'a dyn AddressSpace,
    start: Addr,
    held: &'a [u8],
}

impl<'a> Words<'a> {
    /// Of the memory of a process.
    pub const fn new(space: &'a dyn AddressSpace) -> Self {
        Self { space, start: Addr::new(0), held: &[] }
    }

    /// An unsigned number of `size` bytes.
    pub fn uint(&mut self, at: Addr, size: usize) -> Option<u64> {
        match self.bytes(at, size) {
            Some(bytes) => Some(self.space.target().uint(bytes)),
            // It may lie across the end of a mapping.
            None => self.space.read_uint(at, size).ok(),
        }
    }

    /// Bytes that one mapping holds.
    pub fn bytes(&mut self, at: Addr, size: usize) -> Option<&'a [u8]> {
        if let Some(bytes) = self.of_held(at, size) {
            return Some(bytes);
        }
        self.held = self.space.slice(at).ok()?;
        self.start = at;
        self.of_held(at, size)
    }

    fn of_held(&self, at: Addr, size: usize) -> Option<&'a [u8]> {
        let from = usize::try_from(at.offset_from(self.start)?).ok()?;
        self.held.get(from..from.checked_add(size)?)
    }
}
