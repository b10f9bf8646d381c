//! The length that a core claims in its headers, which bounds what is unpacked.

use kcore_elf::{
    FileBytes, ParseError,
    core_file::{CoreHeader, CoreSegment},
};

/// The longest table of program headers that is waited for, in bytes: more than four million segments.
const MAX_TABLE: u64 = 256 << 20;
/// Bytes of an ELF header of 64 bits, the longer one.
const ELF_HEADER: u64 = 64;

/// The end of a core by its headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Offset behind the last byte that a header refers to.
    pub end: u64,
    /// Whether all headers were read. Then nothing behind `end` belongs to the core.
    pub is_whole: bool,
}

/// Follows a core that is being unpacked until its headers say how long it is.
#[derive(Debug)]
pub struct Claim {
    /// Bytes of the core that are needed before looking again can tell more.
    awaits: u64,
    limit: Option<Limit>,
}

impl Default for Claim {
    fn default() -> Self {
        Self { awaits: ELF_HEADER, limit: None }
    }
}

impl Claim {
    /// The end of the core, once it is known.
    pub const fn limit(&self) -> Option<Limit> {
        self.limit
    }

    /// Whether `len` bytes of the core are enough to look again.
    pub const fn wants_look(&self, len: u64) -> bool {
        self.limit.is_none() && len >= self.awaits
    }

    /// Reads the headers as far as they are unpacked.
    ///
    /// # Errors
    /// When the bytes do not begin a core.
    pub fn look(&mut self, bytes: &FileBytes) -> Result<(), ParseError> {
        let header = CoreHeader::parse(bytes)?;
        let len = bytes.len() as u64;
        match header.table_end(bytes) {
            Some(end) if end > len && header.is_table_within(end, MAX_TABLE) => self.awaits = end,
            Some(end) => self.limit = Some(limit_of(&header, bytes, end)),
            None => self.look_without_count(&header, bytes),
        }
        Ok(())
    }

    /// Without a count the table of program headers ends where dumped bytes begin.
    fn look_without_count(&mut self, header: &CoreHeader, bytes: &FileBytes) {
        let len = bytes.len() as u64;
        let segments = header.segments(bytes).segments;
        let first = dumped(&segments).map(|segment| segment.offset.get()).min();
        if first.is_some_and(|first| first <= len) || len >= MAX_TABLE {
            let end = end_of(&segments).max(len);
            self.limit = Some(Limit { end, is_whole: first.is_some_and(|first| first <= len) });
        } else {
            self.awaits = len.saturating_add(1);
        }
    }
}

fn limit_of(header: &CoreHeader, bytes: &FileBytes, table_end: u64) -> Limit {
    let found = header.segments(bytes);
    let present = found.segments.len() as u64;
    let end = end_of(&found.segments).max(table_end.min(bytes.len() as u64));
    Limit { end, is_whole: found.claimed == Some(present) }
}

fn dumped(segments: &[CoreSegment]) -> impl Iterator<Item = &CoreSegment> {
    segments.iter().filter(|segment| segment.file_size > 0)
}

fn end_of(segments: &[CoreSegment]) -> u64 {
    let ends =
        dumped(segments).map(|segment| segment.offset.get().saturating_add(segment.file_size));
    ends.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::core_header;

    fn looked(bytes: &[u8]) -> Claim {
        let mut claim = Claim::default();
        claim.look(&FileBytes::from(bytes.to_vec())).unwrap();
        claim
    }

    #[test]
    fn the_limit_is_known_once_the_program_headers_are_there() {
        let header = core_header(&[(0x1000, 0x5000), (0x6000, 0x1000)]);
        let mut claim = looked(&header[..80]);
        assert_eq!(claim.limit(), None);
        assert!(!claim.wants_look(64 + 2 * 56 - 1) && claim.wants_look(64 + 2 * 56));
        claim.look(&FileBytes::from(header)).unwrap();
        assert_eq!(claim.limit(), Some(Limit { end: 0x7000, is_whole: true }));
    }

    #[test]
    fn what_is_no_core_is_refused_at_its_first_bytes() {
        let hello = FileBytes::from(b"hello".to_vec());
        assert!(matches!(Claim::default().look(&hello), Err(ParseError::NotElf(_))));
    }

    #[test]
    fn a_claim_beyond_all_files_does_not_overflow() {
        let header = core_header(&[(u64::MAX - 1, u64::MAX)]);
        assert_eq!(looked(&header).limit(), Some(Limit { end: u64::MAX, is_whole: true }));
    }
}
