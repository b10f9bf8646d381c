//! The ELF header and the program headers of a core.
//!
//! Written by hand because a core breaks the rules that ELF readers check: the true number of
//! program headers may stand in a section header at the end of the file (`PN_XNUM`), and that end
//! may be missing.

use kcore_mem::{Addr, AddrRange, Arch, Cursor, FileOff, OutOfBytes, Target};

use crate::{ImageSegment, ParseError, ident::target_of_ident};

const ET_CORE: u16 = 4;
const PN_XNUM: u16 = 0xffff;
const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;

/// What the ELF header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreHeader {
    /// Architecture, word size and byte order.
    pub target: Target,
    program_headers: u64,
    section_headers: u64,
    count: u16,
    entry_size: u16,
}

/// A program header of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreSegment {
    /// `p_type`.
    pub kind: u32,
    /// `p_flags`: 1 execute, 2 write, 4 read.
    pub flags: u32,
    /// `p_offset`.
    pub offset: FileOff,
    /// The addresses in the process, `p_memsz` of them.
    pub range: AddrRange,
    /// `p_filesz`: bytes that were dumped.
    pub file_size: u64,
}

impl CoreSegment {
    /// Whether it describes memory.
    pub const fn is_load(&self) -> bool {
        self.kind == PT_LOAD
    }

    /// Whether it holds notes.
    pub const fn is_note(&self) -> bool {
        self.kind == PT_NOTE
    }
}

/// The program headers of a core, as far as the file holds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreSegments {
    /// Those that are there.
    pub segments: Vec<CoreSegment>,
    /// How many the header claims; `None` when the place of the count is cut off.
    pub claimed: Option<u64>,
}

impl CoreHeader {
    /// Reads the ELF header of a core.
    ///
    /// # Errors
    /// When the bytes are not the header of an ELF core of a known class and byte order.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        if bytes.get(..4) != Some(b"\x7fELF") {
            return Err(ParseError::NotElf(bytes.iter().take(4).copied().collect()));
        }
        let target = target_of_ident(bytes)?;
        let mut cursor = Cursor::new(bytes, target);
        cursor.skip(16)?;
        let elf_type = cursor.u16()?;
        if elf_type != ET_CORE {
            return Err(ParseError::NotCore(elf_type));
        }
        let arch = Arch::from_elf(cursor.u16()?, target.word);
        Ok(Self::parse_rest(cursor, Target { arch, ..target })?)
    }

    fn parse_rest(mut cursor: Cursor<'_>, target: Target) -> Result<Self, OutOfBytes> {
        cursor.skip(4)?;
        cursor.word()?;
        let program_headers = cursor.word()?;
        let section_headers = cursor.word()?;
        cursor.skip(6)?;
        let entry_size = cursor.u16()?;
        let count = cursor.u16()?;
        Ok(Self { target, program_headers, section_headers, count, entry_size })
    }

    /// Reads the program headers that `bytes`, the whole file, hold.
    pub fn segments(&self, bytes: &[u8]) -> CoreSegments {
        let claimed = self.claimed_count(bytes);
        let table = usize::try_from(self.program_headers).ok();
        let table = table.and_then(|start| bytes.get(start..)).unwrap_or_default();
        let entry = usize::from(self.entry_size).max(ImageSegment::size(self.target));
        let wanted =
            claimed.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX));
        let mut segments = Vec::new();
        let mut table_end = u64::MAX;
        for (index, raw) in table.chunks_exact(entry).take(wanted).enumerate() {
            let here =
                self.program_headers.saturating_add((index as u64).saturating_mul(entry as u64));
            let Some(segment) = self.parse_segment(raw).filter(|_| here < table_end) else { break };
            // Without a count the table ends where the bytes of its first segment begin.
            if claimed.is_none() && segment.file_size > 0 {
                table_end = table_end.min(segment.offset.get());
            }
            segments.push(segment);
        }
        CoreSegments { segments, claimed }
    }

    /// The number of bytes of the file that are needed to read all program headers; `bytes` is the beginning of the
    /// file. With `PN_XNUM`, and as long as `bytes` lacks the section header with their count, the number of bytes up
    /// to that header's end. `None` when the count is written nowhere.
    pub fn table_end(&self, bytes: &[u8]) -> Option<u64> {
        let entry = usize::from(self.entry_size).max(ImageSegment::size(self.target)) as u64;
        let end = |count: u64| self.program_headers.saturating_add(count.saturating_mul(entry));
        match self.claimed_count(bytes) {
            // The section header with the count is needed as well.
            Some(count) if self.count == PN_XNUM => Some(end(count).max(self.count_end())),
            Some(count) => Some(end(count)),
            None if self.section_headers == 0 => None,
            None => Some(self.count_end()),
        }
    }

    /// Whether a table of program headers that ends at offset `end` has at most `most` bytes.
    pub const fn is_table_within(&self, end: u64, most: u64) -> bool {
        end.saturating_sub(self.program_headers) <= most || end == self.count_end()
    }

    /// The offset behind section header 0, which holds the count of program headers with `PN_XNUM`.
    const fn count_end(&self) -> u64 {
        let word = self.target.word_size() as u64;
        self.section_headers.saturating_add(16).saturating_add(word.saturating_mul(6))
    }

    /// The number of program headers: with `PN_XNUM` it stands in `sh_info` of section header 0.
    fn claimed_count(&self, bytes: &[u8]) -> Option<u64> {
        if self.count != PN_XNUM {
            return Some(u64::from(self.count));
        }
        let start = usize::try_from(self.section_headers).ok().filter(|start| *start != 0)?;
        let mut cursor = Cursor::new(bytes.get(start..)?, self.target);
        // sh_name, sh_type, then four words and sh_link.
        cursor.skip(8).ok()?;
        cursor.skip(self.target.word_size().checked_mul(4)?).ok()?;
        cursor.skip(4).ok()?;
        cursor.u32().ok().map(u64::from)
    }

    fn parse_segment(&self, raw: &[u8]) -> Option<CoreSegment> {
        let segment = ImageSegment::parse(raw, self.target)?;
        let ImageSegment { kind, flags, offset, svma, file_size, mem_size, .. } = segment;
        let range = AddrRange::with_len(Addr::new(svma.get()), mem_size);
        Some(CoreSegment { kind, flags, offset, range, file_size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A core with `count` in `e_phnum`, program headers at 64 and section headers at `shoff`.
    fn header(count: u16, shoff: u64) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(16, 0);
        for half in [4_u16, 62] {
            bytes.extend_from_slice(&half.to_le_bytes());
        }
        bytes.extend_from_slice(&1_u32.to_le_bytes());
        for word in [0_u64, 64, shoff] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&0_u32.to_le_bytes());
        for half in [64_u16, 56, count, 64, 0, 0] {
            bytes.extend_from_slice(&half.to_le_bytes());
        }
        assert_eq!(bytes.len(), 64);
        bytes
    }

    fn load(offset: u64, start: u64, file_size: u64, mem_size: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&PT_LOAD.to_le_bytes());
        bytes.extend_from_slice(&6_u32.to_le_bytes());
        for word in [offset, start, 0, file_size, mem_size, 0x1000] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn segments_that_the_file_holds_are_read_and_the_missing_ones_counted() {
        let mut bytes = header(3, 0);
        bytes.extend(load(0x1000, 0x40_0000, 0x1000, 0x2000));
        bytes.extend_from_slice(&load(0x2000, 0x50_0000, 0, 0x1000)[..20]);
        let segments = CoreHeader::parse(&bytes).unwrap().segments(&bytes);
        assert_eq!(segments.claimed, Some(3));
        assert_eq!(segments.segments.len(), 1);
        assert_eq!(segments.segments[0].range.len(), 0x2000);
    }

    #[test]
    fn the_true_count_of_many_segments_stands_in_section_header_zero() {
        let mut bytes = header(PN_XNUM, 64 + 2 * 56);
        bytes.extend(load(0x1000, 0x40_0000, 0, 0x1000));
        bytes.extend(load(0x1000, 0x50_0000, 0, 0x1000));
        let mut section = vec![0; 64];
        section[44..48].copy_from_slice(&2_u32.to_le_bytes());
        bytes.extend(section);
        let segments = CoreHeader::parse(&bytes).unwrap().segments(&bytes);
        assert_eq!((segments.claimed, segments.segments.len()), (Some(2), 2));
    }

    #[test]
    fn without_the_count_the_table_ends_at_the_first_dumped_byte() {
        let mut bytes = header(PN_XNUM, 0x9_0000);
        let dumped = 64 + 2 * 56;
        bytes.extend(load(dumped, 0x40_0000, 0x100, 0x1000));
        bytes.extend(load(dumped + 0x100, 0x50_0000, 0x100, 0x1000));
        bytes.resize(bytes.len() + 0x200, 0xaa);
        let segments = CoreHeader::parse(&bytes).unwrap().segments(&bytes);
        assert_eq!((segments.claimed, segments.segments.len()), (None, 2));
    }

    #[test]
    fn what_is_no_core_is_said_to_be_none() {
        assert!(matches!(CoreHeader::parse(b"MZ\0\0"), Err(ParseError::NotElf(_))));
        assert!(matches!(CoreHeader::parse(b"\x7fELF"), Err(ParseError::UnknownClass { .. })));
        let mut exe = header(0, 0);
        exe[16] = 2;
        assert_eq!(CoreHeader::parse(&exe), Err(ParseError::NotCore(2)));
        assert!(matches!(CoreHeader::parse(&header(0, 0)[..40]), Err(ParseError::Header(_))));
    }
}
