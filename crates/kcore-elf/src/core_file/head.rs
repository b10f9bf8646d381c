//! The ELF header, the program headers and the notes of a core, and where its memory then lies.

use kcore_mem::{AddrRange, Target};

const ET_CORE: u16 = 4;
const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;
/// `e_phnum` when there are more: the number stands in section header 0 then.
const PN_XNUM: u16 = 0xffff;
const HEADER: u64 = 64;
const PROGRAM_HEADER: u16 = 56;
const SECTION_HEADER: u16 = 64;

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
    /// A core of 64 bits with these notes and segments; the bytes of each segment lie at a multiple of
    /// `align`, which is at least 1.
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
        let end = HeadLayout::of(segments).notes.saturating_add(notes.len() as u64);
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
        let HeadLayout { count, many, table, notes: notes_at } = HeadLayout::of(segments);
        let end = notes_at.saturating_add(notes.len() as u64);
        let mut out = Out::default();
        out.header(target, count, if many { table } else { 0 });
        out.program_header([PT_NOTE, 0], [notes_at, 0, notes.len() as u64, 0, 4]);
        for (segment, offset) in segments.iter().zip(&offsets) {
            let range = segment.range;
            let words = [*offset, range.start.get(), segment.file_size, range.len(), align.max(1)];
            out.program_header([PT_LOAD, segment.flags], words);
        }
        if many {
            out.count_section(count);
        }
        out.0.extend_from_slice(notes);
        let start = offsets.iter().min().copied().unwrap_or(end);
        out.0.resize(usize::try_from(start).unwrap_or_default().max(out.0.len()), 0);
        Self { bytes: out.0, offsets }
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
    fn of(segments: &[Segment]) -> Self {
        let count = (segments.len() as u64).saturating_add(1);
        let many = count >= u64::from(PN_XNUM);
        let table = HEADER.saturating_add(count.saturating_mul(u64::from(PROGRAM_HEADER)));
        let section = if many { u64::from(SECTION_HEADER) } else { 0 };
        Self { count, many, table, notes: table.saturating_add(section) }
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

/// Numbers in the byte order of this machine, which is that of every live process.
#[derive(Default)]
struct Out(Vec<u8>);

impl Out {
    fn halves(&mut self, values: &[u16]) {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_ne_bytes()));
    }

    fn words(&mut self, values: &[u32]) {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_ne_bytes()));
    }

    fn longs(&mut self, values: &[u64]) {
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_ne_bytes()));
    }

    /// `Elf64_Ehdr`; `sections` is where section header 0 lies, or 0.
    fn header(&mut self, target: Target, count: u64, sections: u64) {
        const CLASS_64: u8 = 2;
        const LITTLE: u8 = 1;
        const VERSION: u8 = 1;
        let machine = target.arch.elf_machine();
        let has_sections = u16::from(sections != 0);
        self.0.extend_from_slice(&[0x7f, b'E', b'L', b'F', CLASS_64, LITTLE, VERSION]);
        self.0.resize(16, 0);
        self.halves(&[ET_CORE, machine]);
        self.words(&[u32::from(VERSION)]);
        self.longs(&[0, HEADER, sections]);
        self.words(&[0]);
        let count = u16::try_from(count).unwrap_or(PN_XNUM);
        let section_size = if sections == 0 { 0 } else { SECTION_HEADER };
        self.halves(&[HEADER as u16, PROGRAM_HEADER, count, section_size, has_sections, 0]);
    }

    /// `Elf64_Phdr`: type and flags; offset, address, sizes in file and memory, alignment.
    fn program_header(&mut self, [kind, flags]: [u32; 2], words: [u64; 5]) {
        let [offset, address, file_size, size, align] = words;
        self.words(&[kind, flags]);
        self.longs(&[offset, address, 0, file_size, size, align]);
    }

    /// Section header 0, in whose `sh_info` the number of program headers stands.
    fn count_section(&mut self, count: u64) {
        self.words(&[0, 0]);
        self.longs(&[0; 4]);
        self.words(&[0, u32::try_from(count).unwrap_or(u32::MAX)]);
        self.longs(&[0; 2]);
    }
}

#[cfg(test)]
mod tests {
    use kcore_elf::CoreFile;
    use kcore_mem::Addr;

    use super::*;

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
    fn the_number_of_very_many_segments_stands_in_a_section_header() {
        let segments: Vec<_> = (1..=70_000).map(|page| segment(page << 12, 0x1000, 0)).collect();
        let head = Head::new(Target::X86_64, &[], &segments, 1);
        let core = CoreFile::parse(head.bytes.into()).unwrap();
        assert_eq!(core.segments().len(), 70_001);
        assert!(core.damage().is_empty());
    }
}
