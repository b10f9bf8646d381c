//! The bytes of a core as a bundle has them.

use std::{
    io::{self, Read},
    ops::Range,
};

use kcore_elf::FileBytes;

/// Bytes of the core that are copied at a time.
const CHUNK: usize = 1 << 20;

/// Parts of a core's file behind each other, of which some bytes are zeros; before them, a head of their own.
pub struct Blotted<'a> {
    head: &'a [u8],
    bytes: &'a FileBytes,
    parts: &'a [Range<usize>],
    /// Bytes of the first part that were read.
    done: usize,
    blots: &'a [Range<usize>],
}

impl<'a> Blotted<'a> {
    /// Parts of a file, which lie within it. `blots` are what is zero of the file.
    pub fn new(
        head: &'a [u8],
        bytes: &'a FileBytes,
        parts: &'a [Range<usize>],
        blots: &'a [Range<usize>],
    ) -> Self {
        Self { head, bytes, parts, done: 0, blots }
    }

    /// Bytes that are left.
    pub fn len(&self) -> u64 {
        let parts = self.parts.iter().map(|part| part.len() as u64);
        let all = parts.fold(self.head.len() as u64, u64::saturating_add);
        all.saturating_sub(self.done as u64)
    }

    /// Fills `into` with the bytes of the file that begin at `start`.
    fn fill(&self, start: usize, into: &mut [u8]) {
        let end = start.saturating_add(into.len());
        let hole = self.bytes.first_data(start..end).is_none();
        match self.bytes.get(start..end).filter(|_| !hole) {
            Some(bytes) => into.copy_from_slice(bytes),
            None => into.fill(0),
        }
        for blot in self.blots {
            let from = blot.start.clamp(start, end).saturating_sub(start);
            let to = blot.end.clamp(start, end).saturating_sub(start);
            into.get_mut(from..to).unwrap_or_default().fill(0);
        }
    }
}

impl Read for Blotted<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if !self.head.is_empty() {
            return self.head.read(buf);
        }
        while let Some((part, rest)) = self.parts.split_first() {
            let left = part.len().saturating_sub(self.done);
            let len = buf.len().min(CHUNK).min(left);
            if let Some(into) = buf.get_mut(..len).filter(|_| left > 0) {
                self.fill(part.start.saturating_add(self.done), into);
                self.done = self.done.saturating_add(len);
                return Ok(len);
            }
            (self.parts, self.done) = (rest, 0);
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_their_head_and_blots_are_zeros() {
        let bytes: FileBytes = (0..=20_u8).collect::<Vec<u8>>().into();
        let (parts, blots) = ([2..5, 9..9, 10..14], [4..11, 13..20]);
        let mut blotted = Blotted::new(b"ab", &bytes, &parts, &blots);
        assert_eq!(blotted.len(), 9);
        let mut read = Vec::new();
        blotted.read_to_end(&mut read).unwrap();
        assert_eq!(read, [b'a', b'b', 2, 3, 0, 0, 11, 12, 0]);
        assert_eq!(blotted.len(), 0);
    }
}
