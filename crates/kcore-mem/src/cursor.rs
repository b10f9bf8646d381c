//! A bounded reader over bytes that may lie.

use crate::{Endian, Target};

/// A read that the bytes at hand cannot satisfy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("needs {needed} bytes at offset {at:#x}, {left} are left")]
pub struct OutOfBytes {
    /// Offset in the bytes at which the read began.
    pub at: usize,
    /// Bytes that the read wanted.
    pub needed: usize,
    /// Bytes that were left.
    pub left: usize,
}

/// Reads integers and byte runs from a slice in the target's byte order, and never past its end.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    target: Target,
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte of `bytes`.
    pub const fn new(bytes: &'a [u8], target: Target) -> Self {
        Self { bytes, at: 0, target }
    }

    /// Offset of the next byte.
    pub const fn position(&self) -> usize {
        self.at
    }

    /// Bytes not yet read.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Whether every byte was read.
    pub fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// When fewer are left; the cursor then stays where it was.
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], OutOfBytes> {
        let rest = self.rest();
        let taken =
            rest.get(..len).ok_or(OutOfBytes { at: self.at, needed: len, left: rest.len() })?;
        self.at = self.at.saturating_add(len);
        Ok(taken)
    }

    /// Skips `len` bytes.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn skip(&mut self, len: usize) -> Result<(), OutOfBytes> {
        self.bytes(len).map(|_| ())
    }

    /// Skips to the next multiple of `align` (a power of two), or to the end if that comes first.
    pub fn align(&mut self, align: usize) {
        let up = self.at.checked_next_multiple_of(align).unwrap_or(self.bytes.len());
        self.at = up.min(self.bytes.len());
    }

    /// An unsigned integer of `size` bytes, at most 8.
    ///
    /// # Errors
    /// When fewer are left.
    pub fn uint(&mut self, size: usize) -> Result<u64, OutOfBytes> {
        self.bytes(size).map(|bytes| self.target.uint(bytes))
    }

    /// One byte.
    ///
    /// # Errors
    /// At the end.
    pub fn u8(&mut self) -> Result<u8, OutOfBytes> {
        self.bytes(1).map(|bytes| bytes.first().copied().unwrap_or_default())
    }

    /// A 16-bit integer.
    ///
    /// # Errors
    /// When fewer than 2 bytes are left.
    pub fn u16(&mut self) -> Result<u16, OutOfBytes> {
        self.array().map(|bytes| match self.target.endian {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        })
    }

    /// A 32-bit integer.
    ///
    /// # Errors
    /// When fewer than 4 bytes are left.
    pub fn u32(&mut self) -> Result<u32, OutOfBytes> {
        self.array().map(|bytes| match self.target.endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    }

    /// A 64-bit integer.
    ///
    /// # Errors
    /// When fewer than 8 bytes are left.
    pub fn u64(&mut self) -> Result<u64, OutOfBytes> {
        self.array().map(|bytes| match self.target.endian {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        })
    }

    /// An integer of the target's pointer size.
    ///
    /// # Errors
    /// When fewer bytes are left.
    pub fn word(&mut self) -> Result<u64, OutOfBytes> {
        self.uint(self.target.word_size())
    }

    /// The bytes up to the next NUL, which is skipped.
    ///
    /// # Errors
    /// When there is no NUL.
    pub fn cstr(&mut self) -> Result<&'a [u8], OutOfBytes> {
        let rest = self.rest();
        let len = rest.iter().position(|byte| *byte == 0).ok_or(OutOfBytes {
            at: self.at,
            needed: rest.len().saturating_add(1),
            left: rest.len(),
        })?;
        let text = self.bytes(len)?;
        self.skip(1)?;
        Ok(text)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], OutOfBytes> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_read_says_what_was_missing_and_moves_nothing() {
        let mut cursor = Cursor::new(&[1, 2, 3], Target::X86_64);
        assert_eq!(cursor.u16(), Ok(0x201));
        assert_eq!(cursor.u32(), Err(OutOfBytes { at: 2, needed: 4, left: 1 }));
        assert_eq!(cursor.u8(), Ok(3));
        assert!(cursor.is_empty());
    }

    #[test]
    fn a_huge_length_is_an_error_and_not_an_overflow() {
        let mut cursor = Cursor::new(&[0; 4], Target::X86_64);
        cursor.skip(2).unwrap();
        assert!(cursor.bytes(usize::MAX).is_err());
    }

    #[test]
    fn strings_end_at_nul_and_never_beyond_the_bytes() {
        let mut cursor = Cursor::new(b"ab\0cd", Target::X86_64);
        assert_eq!(cursor.cstr(), Ok(&b"ab"[..]));
        assert!(cursor.cstr().is_err());
    }

    #[test]
    fn alignment_stops_at_the_end() {
        let mut cursor = Cursor::new(&[0; 5], Target::X86_64);
        cursor.skip(5).unwrap();
        cursor.align(4);
        assert_eq!(cursor.position(), 5);
    }
}
