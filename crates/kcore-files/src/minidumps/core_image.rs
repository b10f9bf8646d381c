//! The bytes of a core: header, program headers, notes, memory.

use kcore_elf::core_file::MapLine;
use kcore_mem::Arch;

use super::memory::Memory;

const EHDR: usize = 64;
const PHDR: usize = 56;
const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;
const PF_R: u32 = 4;
const PF_W: u32 = 2;
/// Above this number the count of program headers needs a section header.
const MAX_SEGMENTS: usize = 0xfff0;
/// Bytes of a page: those of offsets in `NT_FILE`.
const PAGE: u64 = 4096;

/// A core whose notes are gathered.
pub struct CoreImage {
    arch: Arch,
    notes: Vec<u8>,
}

/// A part of memory: what of it is in the file, if anything is.
struct Segment<'a> {
    start: u64,
    len: u64,
    flags: u32,
    bytes: &'a [u8],
}

impl CoreImage {
    pub const fn new(arch: Arch) -> Self {
        Self { arch, notes: Vec::new() }
    }

    /// Adds a note.
    pub fn note(&mut self, owner: &[u8], kind: u32, desc: &[u8]) {
        let len = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
        self.notes.extend_from_slice(&len(owner.len().saturating_add(1)));
        self.notes.extend_from_slice(&len(desc.len()));
        self.notes.extend_from_slice(&kind.to_le_bytes());
        self.notes.extend_from_slice(owner);
        self.notes.push(0);
        self.align();
        self.notes.extend_from_slice(desc);
        self.align();
    }

    fn align(&mut self) {
        self.notes.resize(self.notes.len().next_multiple_of(4), 0);
    }

    /// The core with this memory.
    ///
    /// # Errors
    /// When it has too many parts.
    pub fn finish(self, maps: &[MapLine], memory: &Memory<'_>) -> Result<Vec<u8>, String> {
        let segments = segments(maps, memory);
        if segments.len() >= MAX_SEGMENTS {
            return Err(format!("a minidump with {} parts of memory", segments.len()));
        }
        let count = segments.len().saturating_add(1);
        let mut at = EHDR.saturating_add(PHDR.saturating_mul(count));
        let mut core = self.header(u16::try_from(count).unwrap_or(u16::MAX));
        let notes = [at as u64, 0, 0, self.notes.len() as u64, 0, 4];
        core.extend(program_header(PT_NOTE, 0, notes));
        at = at.saturating_add(self.notes.len());
        for segment in &segments {
            let held = segment.bytes.len();
            let words = [at as u64, segment.start, 0, held as u64, segment.len, 1];
            core.extend(program_header(PT_LOAD, segment.flags, words));
            at = at.saturating_add(held);
        }
        core.extend_from_slice(&self.notes);
        segments.iter().for_each(|segment| core.extend_from_slice(segment.bytes));
        Ok(core)
    }

    fn header(&self, count: u16) -> Vec<u8> {
        let machine: u16 = match self.arch {
            Arch::Aarch64 => 183,
            _ => 62,
        };
        let mut header = b"\x7fELF\x02\x01\x01".to_vec();
        header.resize(16, 0);
        header.extend_from_slice(&4_u16.to_le_bytes());
        header.extend_from_slice(&machine.to_le_bytes());
        header.extend_from_slice(&1_u32.to_le_bytes());
        header.extend_from_slice(&0_u64.to_le_bytes());
        header.extend_from_slice(&(EHDR as u64).to_le_bytes());
        header.extend_from_slice(&0_u64.to_le_bytes());
        header.extend_from_slice(&0_u32.to_le_bytes());
        for half in [EHDR as u16, PHDR as u16, count, 0, 0, 0] {
            header.extend_from_slice(&half.to_le_bytes());
        }
        header
    }
}

/// Offset, address, physical address, bytes in the file, bytes in memory, alignment.
fn program_header(kind: u32, flags: u32, words: [u64; 6]) -> Vec<u8> {
    let mut header = kind.to_le_bytes().to_vec();
    header.extend_from_slice(&flags.to_le_bytes());
    header.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    header
}

/// What is mapped, cut where the memory that was dumped begins and ends; what was dumped and lies in no mapping stands
/// between.
fn segments<'a>(maps: &[MapLine], memory: &Memory<'a>) -> Vec<Segment<'a>> {
    let mut segments = Vec::new();
    let mut at = 0;
    for map in maps {
        let (start, end) = (map.range.start.get().max(at), map.range.end.get());
        for (place, bytes) in memory.within(at, start) {
            segments.push(Segment::held(place, bytes, PF_R | PF_W));
        }
        at = start;
        for (place, bytes) in memory.within(start, end) {
            segments.extend(Segment::empty(at, place, map.flags));
            segments.push(Segment::held(place, bytes, map.flags));
            at = place.saturating_add(bytes.len() as u64);
        }
        segments.extend(Segment::empty(at, end, map.flags));
        at = at.max(end);
    }
    let behind = memory.within(at, u64::MAX);
    segments.extend(behind.map(|(place, bytes)| Segment::held(place, bytes, PF_R | PF_W)));
    segments
}

impl<'a> Segment<'a> {
    const fn held(start: u64, bytes: &'a [u8], flags: u32) -> Self {
        Self { start, len: bytes.len() as u64, flags, bytes }
    }

    /// What was mapped and not dumped, if that is anything.
    fn empty(start: u64, end: u64, flags: u32) -> Option<Self> {
        let len = end.checked_sub(start).filter(|len| *len > 0)?;
        Some(Self { start, len, flags, bytes: &[] })
    }
}

/// `NT_FILE`: count and size of pages, then start, end and page of each mapping of a file, then the paths (`fs/binfmt_elf.c`).
pub fn files(maps: &[MapLine]) -> Vec<u8> {
    let files: Vec<&MapLine> = maps.iter().filter(|map| map.is_file()).collect();
    let mut words = vec![files.len() as u64, PAGE];
    for map in &files {
        let page = map.offset.get().checked_div(PAGE).unwrap_or_default();
        words.extend([map.range.start.get(), map.range.end.get(), page]);
    }
    let mut note: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    for map in files {
        note.extend_from_slice(&map.name);
        note.push(0);
    }
    note
}

#[cfg(test)]
mod tests {
    use kcore_elf::core_file::parse_maps;

    use super::*;

    /// Start, length, and bytes that are held, of each segment.
    fn shown(maps: &str, parts: &[(u64, &[u8])]) -> Vec<(u64, u64, usize)> {
        let mut memory = Memory::new(1 << 20);
        parts.iter().for_each(|(at, bytes)| memory.add(*at, bytes));
        let segments = segments(&parse_maps(maps.as_bytes()), &memory);
        segments.iter().map(|it| (it.start, it.len, it.bytes.len())).collect()
    }

    #[test]
    fn mappings_are_cut_where_dumped_memory_begins_and_ends() {
        let maps =
            "1000-3000 r-xp 0 00:00 0 \n3000-4000 rw-p 0 00:00 0 \n6000-7000 rw-p 0 00:00 0 \n";
        assert_eq!(
            shown(maps, &[]),
            [(0x1000, 0x2000, 0), (0x3000, 0x1000, 0), (0x6000, 0x1000, 0)]
        );
        // Over the border of two mappings, and outside of all.
        let held = shown(maps, &[(0x2800, &[1; 0x1000]), (0x5000, &[2; 8]), (0x8000, &[3; 8])]);
        let expected = [
            (0x1000, 0x1800, 0),
            (0x2800, 0x800, 0x800),
            (0x3000, 0x800, 0x800),
            (0x3800, 0x800, 0),
            (0x5000, 8, 8),
            (0x6000, 0x1000, 0),
            (0x8000, 8, 8),
        ];
        assert_eq!(held, expected);
        assert_eq!(shown("", &[(0x10, &[1; 4])]), [(0x10, 4, 4)]);
        let overlapping = "1000-3000 r-xp 0 00:00 0 \n2000-2800 rw-p 0 00:00 0 \n";
        assert_eq!(shown(overlapping, &[(0x2000, &[1; 4])])[1], (0x2000, 4, 4));
    }

    #[test]
    fn paths_stand_behind_the_ranges() {
        let maps =
            parse_maps(b"1000-3000 r-xp 2000 08:01 7 /bin/a b\n4000-5000 rw-p 0 00:00 0 [heap]\n");
        let note = files(&maps);
        let word = |at: usize| u64::from_le_bytes(note[at * 8..at * 8 + 8].try_into().unwrap());
        assert_eq!([0, 1, 2, 3, 4].map(word), [1, 4096, 0x1000, 0x3000, 2]);
        assert_eq!(&note[40..], b"/bin/a b\0");
    }
}
