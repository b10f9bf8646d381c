//! Bytes in the byte order and the word size of the process.

use kcore_mem::{Endian, Target};

/// Bytes that grow by integers of the target.
pub struct TargetBytes {
    target: Target,
    bytes: Vec<u8>,
}

impl TargetBytes {
    pub const fn new(target: Target) -> Self {
        Self { target, bytes: Vec::new() }
    }

    /// None yet, for the same target.
    pub const fn empty(&self) -> Self {
        Self::new(self.target)
    }

    pub const fn target(&self) -> Target {
        self.target
    }

    /// Writes over four bytes that are there.
    pub fn put_u32(&mut self, at: usize, value: u32) {
        let mut word = self.empty();
        word.u32(value);
        let place = self.bytes.get_mut(at..).and_then(|bytes| bytes.first_chunk_mut::<4>());
        if let (Some(place), Ok(word)) = (place, <[u8; 4]>::try_from(word.finish())) {
            *place = word;
        }
    }

    /// Adds the lowest `size` bytes of an integer, 8 at most.
    pub fn uint(&mut self, value: u64, size: usize) -> &mut Self {
        let lowest = value.to_le_bytes();
        let lowest = lowest.get(..size).unwrap_or(&lowest);
        match self.target.endian {
            Endian::Little => self.bytes.extend_from_slice(lowest),
            Endian::Big => self.bytes.extend(lowest.iter().rev()),
        }
        self
    }

    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.uint(value.into(), 2)
    }

    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.uint(value.into(), 4)
    }

    /// Adds as many bytes as a pointer has.
    pub fn word(&mut self, value: u64) -> &mut Self {
        self.uint(value, self.target.word_size())
    }

    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Zeros up to an offset.
    pub fn zeros_to(&mut self, len: usize) -> &mut Self {
        self.bytes.resize(len.max(self.bytes.len()), 0);
        self
    }

    /// Zeros up to a multiple of four bytes, as notes have them.
    pub fn align(&mut self) -> &mut Self {
        self.zeros_to(self.bytes.len().next_multiple_of(4))
    }

    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::Arch;

    use super::*;

    #[test]
    fn integers_have_the_order_and_the_width_of_the_target() {
        let mips = Target { arch: Arch::Mips, endian: Endian::Big, word: 4 };
        let mut bytes = TargetBytes::new(mips);
        bytes.u16(1).word(0x0001_0203_0405_0607).align().u32(9);
        assert_eq!(bytes.finish(), [0, 1, 4, 5, 6, 7, 0, 0, 0, 0, 0, 9]);
        let mut bytes = TargetBytes::new(Target::X86_64);
        bytes.word(0x0102).raw(&[7]).zeros_to(10).zeros_to(2);
        assert_eq!(bytes.finish(), [2, 1, 0, 0, 0, 0, 0, 0, 7, 0]);
    }
}
