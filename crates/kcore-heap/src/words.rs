//! Words of memory, read quickly one after the other.

use kcore_mem::{Addr, AddrRange, AddressSpace};

/// Reads 64-bit words of little-endian memory. It keeps the run of bytes that it read last, so that a walk does not ask the
/// address space for each word.
pub struct Words<'s> {
    space: &'s dyn AddressSpace,
    base: u64,
    bytes: &'s [u8],
}

impl<'s> Words<'s> {
    /// Of a space.
    pub const fn new(space: &'s dyn AddressSpace) -> Self {
        Self { space, base: 0, bytes: &[] }
    }

    /// The space.
    pub const fn space(&self) -> &'s dyn AddressSpace {
        self.space
    }

    /// The word at `at`; `None` where memory does not have all of it.
    #[inline]
    pub fn word(&mut self, at: u64) -> Option<u64> {
        match self.held(at).and_then(<[u8]>::first_chunk) {
            Some(bytes) => Some(u64::from_le_bytes(*bytes)),
            None => self.word_elsewhere(at),
        }
    }

    /// A half word (32 bits).
    pub fn half(&mut self, at: u64) -> Option<u32> {
        let value = self.space.read_uint(Addr::new(at), 4).ok()?;
        u32::try_from(value).ok()
    }

    /// The bytes from `at` on, as far as one run holds them; empty where there are none.
    pub fn run(&mut self, at: u64) -> &'s [u8] {
        if self.held(at).is_none() {
            self.refill(at);
        }
        self.held(at).unwrap_or_default()
    }

    #[inline]
    fn held(&self, at: u64) -> Option<&'s [u8]> {
        let offset = usize::try_from(at.checked_sub(self.base)?).ok()?;
        self.bytes.get(offset..).filter(|bytes| !bytes.is_empty())
    }

    #[cold]
    fn word_elsewhere(&mut self, at: u64) -> Option<u64> {
        self.refill(at);
        match self.held(at)?.first_chunk() {
            Some(bytes) => Some(u64::from_le_bytes(*bytes)),
            None => self.space.read_uint(Addr::new(at), 8).ok(),
        }
    }

    fn refill(&mut self, at: u64) {
        (self.base, self.bytes) = (at, self.space.slice(Addr::new(at)).unwrap_or_default());
    }
}

/// The parts of a range that have bytes, among the runs that do: see [`HeapHost::regions`](crate::HeapHost::regions).
pub fn held_parts(held: &[AddrRange], range: AddrRange) -> impl Iterator<Item = AddrRange> {
    let first = held.partition_point(|run| run.end <= range.start);
    let runs = held.get(first..).unwrap_or_default().iter();
    runs.take_while(move |run| run.start < range.end)
        .filter_map(move |run| run.intersection(&range))
}
