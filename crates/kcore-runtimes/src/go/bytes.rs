//! Bytes of a table, one after the other.

use kcore_mem::{Addr, AddressSpace};

/// Bytes of the target from an address on.
pub struct Bytes<'a> {
    space: &'a dyn AddressSpace,
    /// What lies at `next`, as far as one mapping holds it.
    held: &'a [u8],
    next: Addr,
}

impl<'a> Bytes<'a> {
    /// Those from `at` on.
    pub const fn new(space: &'a dyn AddressSpace, at: Addr) -> Self {
        Self { space, held: &[], next: at }
    }

    /// The next one; `None` where memory ends.
    pub fn byte(&mut self) -> Option<u8> {
        if self.held.is_empty() {
            self.held = self.space.slice(self.next).ok()?;
        }
        let (byte, rest) = self.held.split_first()?;
        self.held = rest;
        self.next = self.next.checked_add(1)?;
        Some(*byte)
    }

    /// The next number of variable length (`binary.PutUvarint` of Go's library), of at most 32 bits.
    pub fn varint(&mut self) -> Option<u32> {
        let mut value = 0_u32;
        for shift in (0..32).step_by(7) {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7f).wrapping_shl(shift);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Host;
    use crate::anchor::made_host::MadeHost;

    fn varint(bytes: &[u8]) -> Option<u32> {
        let mut host = MadeHost::new(&[0x1000]);
        host.put(0x3000 - bytes.len() as u64, bytes);
        Bytes::new(host.space(), Addr::new(0x3000 - bytes.len() as u64)).varint()
    }

    #[test]
    fn numbers_have_as_many_bytes_as_they_need() {
        assert_eq!(varint(&[0x7f]), Some(0x7f));
        assert_eq!(varint(&[0x80, 0x01]), Some(0x80));
        assert_eq!(varint(&[0xff, 0xff, 0xff, 0xff, 0x0f]), Some(u32::MAX));
    }

    #[test]
    fn a_number_that_does_not_end_is_none() {
        assert_eq!(varint(&[0x80]), None, "memory ends");
        assert_eq!(varint(&[0x80; 6]), None, "it is too long");
    }
}
