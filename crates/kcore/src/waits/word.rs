//! Words of the memory of locks.

use kcore_mem::{Addr, AddressSpace};

/// The 32-bit word `offset` bytes behind an address.
pub fn read32(space: &dyn AddressSpace, at: Addr, offset: i64) -> Option<u32> {
    let value = space.read_uint(at.wrapping_offset(offset), 4).ok()?;
    u32::try_from(value).ok()
}
