//! Code, read some bytes at a time.

use kcore_mem::{Addr, AddressSpace};

/// Bytes that are read at a time.
const SIZE: usize = 512;
/// Bytes of the longest instruction, on any machine.
const LONGEST: usize = 15;

/// The code around the place that was asked for last.
pub struct Window {
    start: Addr,
    bytes: [u8; SIZE],
    len: usize,
}

impl Window {
    pub const fn new() -> Self {
        Self { start: Addr::new(0), bytes: [0; SIZE], len: 0 }
    }

    /// Forgets what was read: memory may be another one.
    pub const fn clear(&mut self) {
        self.len = 0;
    }

    /// The bytes at `at`, as many as an instruction may have, where there are so many.
    pub fn at(&mut self, at: Addr, space: &dyn AddressSpace) -> &[u8] {
        let inside = at.offset_from(self.start).and_then(|inside| usize::try_from(inside).ok());
        let is_whole = inside
            .and_then(|inside| inside.checked_add(LONGEST))
            .is_some_and(|end| end <= self.len);
        let from = match inside.filter(|_| is_whole) {
            Some(inside) => inside,
            None => {
                self.start = at;
                (self.len, _) = space.read_partial(at, &mut self.bytes);
                0
            }
        };
        let to = from.saturating_add(LONGEST).min(self.len);
        self.bytes.get(from..to).unwrap_or_default()
    }
}
