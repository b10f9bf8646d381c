//! The hash of names. It is written to files, and so is not the one of a library that may change it.

/// FNV-1a of 64 bits, see the Internet draft draft-eastlake-fnv.
#[derive(Clone, Copy)]
pub struct Hash(u64);

impl Hash {
    /// Of no bytes.
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hash = Self::new();
        hash.write(bytes);
        hash
    }

    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a number.
    pub fn add(&mut self, number: u64) {
        self.write(&number.to_le_bytes());
    }

    /// Of all so far.
    pub const fn long(self) -> u64 {
        self.0
    }

    /// The same in 32 bits.
    pub const fn short(self) -> u32 {
        (self.0 ^ (self.0 >> 32)) as u32
    }
}
