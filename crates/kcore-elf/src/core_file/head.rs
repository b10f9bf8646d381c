//! How a core begins that kcore writes: the ELF header, the program headers and the notes, and where its memory then lies.

use kcore_mem::{AddrRange, Endian, Target};

const ET_CORE: u16 = 4;
const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;
/// `e_phnum` when there are more: the number stands in section header 0 then.
const PN_XNUM: u16 = 0xffff;

/// A segment that describes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The addresses.
    pub range: AddrRange,
    /// `p_flags`.
    pub flags: u32,
    /// Bytes that the file has of it, from its first on.
    pub file_size: u64,
}

/// The beginning of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its bytes, up to where the memory of the first segment begins.
    pub bytes: Vec<u8>,
    /// Where in the file the bytes of each segment lie.
    pub offsets: Vec<u64>,
}

impl Head {
    /// A core with these notes and segments; the bytes of each segment lie at a multiple of `align`, which is at least 1.
    pub fn new(target: Target, notes: &[u8], segments: &[Segment], align: u64) -> Self {
        let order: Vec<usize> = (0..segments.len()).collect();
        Self::in_order(target, notes, segments, (&order, align))
    }

    /// The same; the bytes of segments lie in this order, in which each of them is named once.
    pub fn in_order(
        target: Target,
        notes: &[u8],
        segments: &[Segment],
        (order, align): (&[usize], u64),
    ) -> Self {
        let end = HeadLayout::of(target, segments).notes.saturating_add(notes.len() as u64);
        let offsets = offsets(segments, order, end, align);
        Self::at(target, notes, segments, (offsets, align))
    }

    /// The same head for segments of which the file has less than was planned: their bytes lie where they
    /// did.
    pub fn with_less(self, target: Target, notes: &[u8], segments: &[Segment], align: u64) -> Self {
        Self::at(target, notes, segments, (self.offsets, align))
    }

    fn at(
        target: Target,
        notes: &[u8],
        segments: &[Segment],
        (offsets, align): (Vec<u64>, u64),
    ) -> Self {
        let HeadLayout { count, many, table, notes: notes_at } = HeadLayout::of(target, segments);
        let end = notes_at.saturating_add(notes.len() as u64);
        let mut out = Out { target, bytes: Vec::new() };
        out.header(count, if many { table } else { 0 });
        out.program_header([PT_NOTE, 0], [notes_at, 0, notes.len() as u64, 0, 4]);
        for (segment, offset) in segments.iter().zip(&offsets) {
            let range = segment.range;
            let words = [*offset, range.start.get(), segment.file_size, range.len(), align.max(1)];
            out.program_header([PT_LOAD, segment.flags], words);
        }
        if many {
            out.count_section(count);
        }
        let mut bytes = out.bytes;
        bytes.extend_from_slice(notes);
        let start = offsets.iter().min().copied().unwrap_or(end);
        bytes.resize(usize::try_from(start).unwrap_or_default().max(bytes.len()), 0);
        Self { bytes, offsets }
    }
}

/// Where the parts of a head lie.
struct HeadLayout {
    /// Program headers.
    count: u64,
    /// Whether there are more than the header can count.
    many: bool,
    /// Where the table of program headers ends.
    table: u64,
    notes: u64,
}

impl HeadLayout {
    fn of(target: Target, segments: &[Segment]) -> Self {
        let sizes = Sizes::of(target);
        let count = (segments.len() as u64).saturating_add(1);
        let many = count >= u64::from(PN_XNUM);
        let headers = count.saturating_mul(u64::from(sizes.program_header));
        let table = u64::from(sizes.header).saturating_add(headers);
        let section = if many { u64::from(sizes.section_header) } else { 0 };
        Self { count, many, table, notes: table.saturating_add(section) }
    }
}

/// Bytes of the headers, by the size of a word.
struct Sizes {
    header: u16,
    program_header: u16,
    section_header: u16,
}

impl Sizes {
    const fn of(target: Target) -> Self {
        match target.word {
            8 => Self { header: 64, program_header: 56, section_header: 64 },
            _ => Self { header: 52, program_header: 32, section_header: 40 },
        }
    }
}

fn offsets(segments: &[Segment], order: &[usize], first: u64, align: u64) -> Vec<u64> {
    let mut next = first;
    let mut offsets = vec![0; segments.len()];
    for index in order {
        let Some((segment, place)) = segments.get(*index).zip(offsets.get_mut(*index)) else {
            continue;
        };
        *place = next.checked_next_multiple_of(align.max(1)).unwrap_or(u64::MAX);
        next = place.saturating_add(segment.file_size);
    }
    offsets
}

/// Numbers in the byte order of a target, and words of its size.
struct Out {
    target: Target,
    bytes: Vec<u8>,
}

impl Out {
    /// A number of so many bytes, at most 8.
    fn uint(&mut self, value: u64, size: usize) {
        let (little, big) = (value.to_le_bytes(), value.to_be_bytes());
        let bytes = match self.target.endian {
            Endian::Little => little.get(..size),
            Endian::Big => big.get(big.len().saturating_sub(size)..),
        };
        self.bytes.extend_from_slice(bytes.unwrap_or_default());
    }

    fn halves(&mut self, values: &[u16]) {
        values.iter().for_each(|value| self.uint(u64::from(*value), 2));
    }

    fn ints(&mut self, values: &[u32]) {
        values.iter().for_each(|value| self.uint(u64::from(*value), 4));
    }

    fn words(&mut self, values: &[u64]) {
        let size = self.target.word_size();
        values.iter().for_each(|value| self.uint(*value, size));
    }

    /// `Elf64_Ehdr` or `Elf32_Ehdr`; `sections` is where section header 0 lies, or 0.
    fn header(&mut self, count: u64, sections: u64) {
        const VERSION: u8 = 1;
        let sizes = Sizes::of(self.target);
        let class = if self.target.word == 8 { 2 } else { 1 };
        let order = if self.target.endian == Endian::Little { 1 } else { 2 };
        let has_sections = u16::from(sections != 0);
        self.bytes.extend_from_slice(&[0x7f, b'E', b'L', b'F', class, order, VERSION]);
        self.bytes.resize(16, 0);
        self.halves(&[ET_CORE, self.target.arch.elf_machine()]);
        self.ints(&[u32::from(VERSION)]);
        self.words(&[0, u64::from(sizes.header), sections]);
        self.ints(&[0]);
        let count = u16::try_from(count).unwrap_or(PN_XNUM);
        let section_size = if sections == 0 { 0 } else { sizes.section_header };
        self.halves(&[sizes.header, sizes.program_header, count, section_size, has_sections, 0]);
    }

    /// `Elf64_Phdr` or `Elf32_Phdr`: type and flags; offset, address, sizes in file and memory, alignment.
    fn program_header(&mut self, [kind, flags]: [u32; 2], words: [u64; 5]) {
        let [offset, address, file_size, size, align] = words;
        if self.target.word == 8 {
            self.ints(&[kind, flags]);
            self.words(&[offset, address, 0, file_size, size, align]);
        } else {
            self.ints(&[kind]);
            self.words(&[offset, address, 0, file_size, size]);
            self.ints(&[flags]);
            self.words(&[align]);
        }
    }

    /// Section header 0, in whose `sh_info` the number of program headers stands.
    fn count_section(&mut self, count: u64) {
        self.ints(&[0, 0]);
        self.words(&[0; 4]);
        self.ints(&[0, u32::try_from(count).unwrap_or(u32::MAX)]);
        self.words(&[0; 2]);
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::{Addr, Arch};

    use super::*;
    use crate::CoreFile;

    fn segment(start: u64, len: u64, file_size: u64) -> Segment {
        Segment { range: AddrRange::with_len(Addr::new(start), len), flags: 6, file_size }
    }

    #[test]
    fn the_reader_finds_what_is_written() {
        let segments =
            [segment(0x1000, 0x1000, 3), segment(0x2000, 0x1000, 0), segment(0x9000, 2, 2)];
        let head = Head::new(Target::X86_64, &[], &segments, 16);
        let mut bytes = head.bytes;
        bytes.resize(head.offsets[2] as usize, 0);
        bytes.extend_from_slice(b"xy");
        let core = CoreFile::parse(bytes.into()).unwrap();
        assert!(core.damage().is_empty(), "{:?}", core.damage());
        assert_eq!(core.segments().len(), 4);
        assert_eq!(core.segments()[1].range, segments[0].range);
        assert!(head.offsets.iter().all(|offset| offset % 16 == 0));
    }

    #[test]
    fn words_and_their_order_are_those_of_the_target() {
        let target = Target { arch: Arch::S390, endian: Endian::Big, word: 4 };
        let segments = [segment(0x1000, 0x1000, 3), segment(0x2000, 0x1000, 0)];
        let core = CoreFile::parse(Head::new(target, &[], &segments, 1).bytes.into()).unwrap();
        assert_eq!((core.target().endian, core.target().word), (Endian::Big, 4));
        let loads: Vec<_> = core.segments().iter().filter(|it| it.is_load()).collect();
        assert_eq!((loads[1].range, loads[1].flags), (segments[1].range, 6));
        assert_eq!((loads[0].file_size, loads[1].file_size), (3, 0));
    }

    #[test]
    fn the_number_of_very_many_segments_stands_in_a_section_header() {
        let segments: Vec<_> = (1..=70_000).map(|page| segment(page << 12, 0x1000, 0)).collect();
        let head = Head::new(Target::X86_64, &[], &segments, 1);
        let core = CoreFile::parse(head.bytes.into()).unwrap();
        assert_eq!(core.segments().len(), 70_001);
        assert!(core.damage().is_empty());
    }
}
