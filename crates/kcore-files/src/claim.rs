//! How long a core says that it is, from its first bytes: the bound of what is unpacked.

use kcore_elf::{ParseError, core_file::CoreHeader};

/// Program headers longer than this are not waited for: more than a million segments.
const MAX_HEAD: usize = 64 << 20;
/// Bytes of the longest ELF header.
const ELF_HEADER: usize = 64;
/// Room for section headers: gcore writes one for each segment behind the last segment, a kernel
/// one for `PN_XNUM`.
const SECTION_HEADER: u64 = 64;
const SLACK: u64 = 1 << 20;

/// Collects the first bytes of a core until they say how long it is.
#[derive(Debug, Default)]
pub struct Claim {
    head: Vec<u8>,
    limit: Option<u64>,
}

impl Claim {
    /// Takes the next bytes of the core; gives the number of bytes that the core may have, when
    /// enough of it was seen.
    ///
    /// # Errors
    /// When the bytes do not begin a core.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<u64>, ParseError> {
        if self.limit.is_none() {
            self.head.extend_from_slice(bytes);
            self.limit = limit_of(&self.head)?;
            if self.limit.is_some() {
                self.head = Vec::new();
            }
        }
        Ok(self.limit)
    }
}

fn limit_of(head: &[u8]) -> Result<Option<u64>, ParseError> {
    let header = match CoreHeader::parse(head) {
        Err(ParseError::Header(_)) if head.len() < ELF_HEADER => return Ok(None),
        parsed => parsed?,
    };
    let found = header.segments(head);
    let present = found.segments.len() as u64;
    let dumped = || found.segments.iter().filter(|segment| segment.file_size > 0);
    let first_byte = dumped().map(|segment| segment.offset.get()).min();
    // With PN_XNUM the count stands at the end; the table then ends where dumped bytes begin.
    let complete = match found.claimed {
        Some(claimed) => present >= claimed,
        None => first_byte.is_some_and(|first| first <= head.len() as u64),
    };
    if !complete && head.len() < MAX_HEAD {
        return Ok(None);
    }
    let end = |segment: &kcore_elf::core_file::CoreSegment| {
        segment.offset.get().saturating_add(segment.file_size)
    };
    let dumped_end = dumped().map(end).max().unwrap_or(0);
    // Program headers of a core without memory are not longer than section headers would be.
    let headers = present.saturating_mul(SECTION_HEADER);
    Ok(Some(dumped_end.saturating_add(headers).saturating_add(SLACK)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::core_header;

    #[test]
    fn the_limit_is_known_once_the_program_headers_are_there() {
        let header = core_header(&[(0x1000, 0x5000), (0x6000, 0x1000)]);
        let mut claim = Claim::default();
        let (first, rest) = header.split_at(80);
        assert_eq!(claim.take(first), Ok(None));
        assert_eq!(claim.take(rest), Ok(Some(0x7000 + 2 * 64 + SLACK)));
        assert_eq!(claim.take(b"more"), Ok(Some(0x7000 + 2 * 64 + SLACK)));
    }

    #[test]
    fn what_is_no_core_is_refused_at_its_first_bytes() {
        assert!(matches!(Claim::default().take(b"hello"), Err(ParseError::NotElf(_))));
    }

    #[test]
    fn a_claim_beyond_all_files_does_not_overflow() {
        let header = core_header(&[(u64::MAX - 1, u64::MAX)]);
        assert_eq!(Claim::default().take(&header), Ok(Some(u64::MAX)));
    }
}
