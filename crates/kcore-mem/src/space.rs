//! The address space: what every other room reads memory through.

use crate::{Addr, AddrRange, Fault, Origin, Target};

/// A run of addresses whose bytes have one origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// The addresses.
    pub range: AddrRange,
    /// Where their bytes come from.
    pub origin: Origin,
}

/// Memory of a target that no longer runs, or runs elsewhere.
///
/// An address has bytes, or it has none for a reason: [`Fault`] tells them apart. Implementations
/// never invent bytes: what was not dumped is not zero.
pub trait AddressSpace: Send + Sync {
    /// Architecture, word size and byte order, by which typed reads go.
    fn target(&self) -> Target;

    /// The longest run of bytes at `at` that one mapping holds, without a copy. Never empty.
    ///
    /// # Errors
    /// When `at` itself has no bytes.
    fn slice(&self, at: Addr) -> Result<&[u8], Fault>;

    /// Where the byte at `at` comes from.
    ///
    /// # Errors
    /// When `at` has no bytes.
    fn origin(&self, at: Addr) -> Result<Origin, Fault>;

    /// The runs of addresses that have bytes, lowest first, for commands that search.
    fn regions(&self) -> Vec<Region>;

    /// The first part of a range, all of which has bytes, that may hold anything but zeros; `None`
    /// when all of it is known to be zeros without a look.
    fn first_data(&self, range: AddrRange) -> Option<AddrRange> {
        Some(range)
    }

    /// Fills `buf` from `at` on as far as bytes reach; says how many were read and what stopped
    /// the read.
    fn read_partial(&self, at: Addr, buf: &mut [u8]) -> (usize, Option<Fault>) {
        let mut done: usize = 0;
        while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let Some(next) = at.checked_add(done as u64) else {
                return (done, Some(Fault::Unmapped(Addr::new(u64::MAX))));
            };
            match self.slice(next) {
                Ok(bytes) => done = done.saturating_add(copy_prefix(bytes, rest)),
                Err(fault) => return (done, Some(fault)),
            }
        }
        (done, None)
    }

    /// The bytes from `at` on as far as memory holds them, at most `len`. Room is made for what is
    /// there, and not for what is asked: a length may be a lie.
    fn read_held(&self, at: Addr, len: u64) -> Vec<u8> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let mut held = Vec::new();
        while held.len() < len {
            let Some(next) = at.checked_add(held.len() as u64) else { break };
            let Ok(bytes) = self.slice(next) else { break };
            let wanted = len.saturating_sub(held.len()).min(bytes.len());
            held.extend_from_slice(bytes.get(..wanted).unwrap_or_default());
        }
        held
    }

    /// Fills `buf` from `at` on.
    ///
    /// # Errors
    /// With the first address that has no bytes; `buf` may then be filled in part.
    fn read(&self, at: Addr, buf: &mut [u8]) -> Result<(), Fault> {
        self.read_partial(at, buf).1.map_or(Ok(()), Err)
    }

    /// An unsigned integer of `size` bytes, at most 8, in the target's byte order.
    ///
    /// # Errors
    /// With the first address that has no bytes.
    fn read_uint(&self, at: Addr, size: usize) -> Result<u64, Fault> {
        let mut buf = [0_u8; 8];
        let buf = buf.get_mut(..size.min(8)).unwrap_or_default();
        self.read(at, buf)?;
        Ok(self.target().uint(buf))
    }

    /// An integer of the target's pointer size.
    ///
    /// # Errors
    /// With the first address that has no bytes.
    fn read_word(&self, at: Addr) -> Result<u64, Fault> {
        match self.slice(at).ok().and_then(<[u8]>::first_chunk) {
            Some(bytes) if self.target().word == 8 => Ok(self.target().uint64(*bytes)),
            _ => self.read_uint(at, self.target().word_size()),
        }
    }

    /// What a function saved of a general register.
    ///
    /// # Errors
    /// With the first address that has no bytes.
    fn read_register(&self, at: Addr) -> Result<u64, Fault> {
        // Walks read little else, and nearly all of it lies within one mapping.
        match self.slice(at).ok().and_then(<[u8]>::first_chunk) {
            Some(bytes) if self.target().register_size() == 8 => Ok(self.target().uint64(*bytes)),
            _ => self.read_uint(at, self.target().register_size()),
        }
    }

    /// A pointer.
    ///
    /// # Errors
    /// With the first address that has no bytes.
    fn read_addr(&self, at: Addr) -> Result<Addr, Fault> {
        self.read_word(at).map(Addr::new)
    }

    /// The bytes at `at` up to, and without, the first NUL, at most `max` of them.
    ///
    /// # Errors
    /// When memory ends before a NUL and before `max` bytes.
    fn read_cstr(&self, at: Addr, max: usize) -> Result<Vec<u8>, Fault> {
        let mut text = Vec::new();
        while text.len() < max {
            let next = at.checked_add(text.len() as u64).ok_or(Fault::Unmapped(at))?;
            let bytes = self.slice(next)?;
            let bytes = bytes.get(..max.saturating_sub(text.len())).unwrap_or(bytes);
            match bytes.iter().position(|byte| *byte == 0) {
                Some(end) => {
                    text.extend_from_slice(bytes.get(..end).unwrap_or_default());
                    return Ok(text);
                }
                None => text.extend_from_slice(bytes),
            }
        }
        Ok(text)
    }
}

fn copy_prefix(from: &[u8], to: &mut [u8]) -> usize {
    let len = from.len().min(to.len());
    if let (Some(from), Some(to)) = (from.get(..len), to.get_mut(..len)) {
        to.copy_from_slice(from);
    }
    len
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two neighbouring mappings at 0x1000 and 0x1004, nothing after 0x1008.
    struct Split;

    impl AddressSpace for Split {
        fn target(&self) -> Target {
            Target::X86_64
        }

        fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
            const LOW: [u8; 4] = [1, 2, 3, 4];
            const HIGH: [u8; 4] = [5, 0, 7, 8];
            let offset = at.offset_from(Addr::new(0x1000)).ok_or(Fault::Unmapped(at))? as usize;
            let half: &'static [u8] = if offset < 4 { &LOW } else { &HIGH };
            half.get(offset % 4..).filter(|_| offset < 8).ok_or(Fault::NotDumped(at))
        }

        fn origin(&self, at: Addr) -> Result<Origin, Fault> {
            self.slice(at).map(|_| Origin::Core)
        }

        fn regions(&self) -> Vec<Region> {
            Vec::new()
        }
    }

    #[test]
    fn reads_cross_from_one_mapping_into_the_next() {
        assert_eq!(Split.read_uint(Addr::new(0x1002), 4), Ok(0x0005_0403));
        assert_eq!(Split.read_word(Addr::new(0x1000)), Ok(0x0807_0005_0403_0201));
    }

    #[test]
    fn a_partial_read_says_where_and_why_it_stopped() {
        let mut buf = [0; 16];
        let (done, fault) = Split.read_partial(Addr::new(0x1006), &mut buf);
        assert_eq!((done, fault), (2, Some(Fault::NotDumped(Addr::new(0x1008)))));
        assert_eq!(&buf[..3], &[7, 8, 0]);
    }

    #[test]
    fn room_is_made_for_what_memory_holds() {
        let held = Split.read_held(Addr::new(0x1002), u64::MAX);
        assert_eq!(held, [3, 4, 5, 0, 7, 8]);
        assert_eq!(Split.read_held(Addr::new(0x1000), 5).len(), 5);
        assert!(Split.read_held(Addr::new(0x2000), 5).is_empty());
    }

    #[test]
    fn strings_are_bounded_by_nul_by_max_and_by_memory() {
        assert_eq!(Split.read_cstr(Addr::new(0x1000), 64), Ok(vec![1, 2, 3, 4, 5]));
        assert_eq!(Split.read_cstr(Addr::new(0x1000), 3), Ok(vec![1, 2, 3]));
        assert!(Split.read_cstr(Addr::new(0x1006), 64).is_err());
    }

    #[test]
    fn the_end_of_the_address_space_is_a_fault() {
        let mut buf = [0; 8];
        assert!(Split.read(Addr::new(u64::MAX), &mut buf).is_err());
    }
}
