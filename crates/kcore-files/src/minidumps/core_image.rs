//! The bytes of a core: header, program headers, notes, memory.

use kcore_elf::core_file::MapLine;
use kcore_mem::{Endian, Target};

use super::memory::Memory;
use crate::target_bytes::TargetBytes;

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
    target: Target,
    notes: TargetBytes,
}

/// A part of memory: what of it is in the file, if anything is.
struct Segment<'a> {
    start: u64,
    len: u64,
    flags: u32,
    bytes: &'a [u8],
}

impl CoreImage {
    pub const fn new(target: Target) -> Self {
        Self { target, notes: TargetBytes::new(target) }
    }

    /// Adds a note.
    pub fn note(&mut self, owner: &[u8], kind: u32, desc: &[u8]) {
        let len = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX);
        self.notes.u32(len(owner.len().saturating_add(1))).u32(len(desc.len())).u32(kind);
        self.notes.raw(owner).raw(&[0]).align().raw(desc).align();
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
        let (header_size, entry_size) = self.sizes();
        let mut at = header_size.saturating_add(entry_size.saturating_mul(count));
        let mut core = TargetBytes::new(self.target);
        self.header(&mut core, u16::try_from(count).unwrap_or(u16::MAX));
        let notes = [at as u64, 0, 0, self.notes.len() as u64, 0, 4];
        self.program_header(&mut core, PT_NOTE, 0, notes);
        at = at.saturating_add(self.notes.len());
        for segment in &segments {
            let held = segment.bytes.len();
            let words = [at as u64, segment.start, 0, held as u64, segment.len, 1];
            self.program_header(&mut core, PT_LOAD, segment.flags, words);
            at = at.saturating_add(held);
        }
        core.raw(&self.notes.finish());
        segments.iter().for_each(|segment| _ = core.raw(segment.bytes));
        Ok(core.finish())
    }

    /// Bytes of the ELF header and of a program header.
    const fn sizes(&self) -> (usize, usize) {
        if self.target.word_size() == 8 { (64, 56) } else { (52, 32) }
    }

    fn header(&self, core: &mut TargetBytes, count: u16) {
        let class = if self.target.word_size() == 8 { 2 } else { 1 };
        let order = if self.target.endian == Endian::Little { 1 } else { 2 };
        let (header_size, entry_size) = self.sizes();
        core.raw(b"\x7fELF").raw(&[class, order, 1]).zeros_to(16);
        core.u16(4).u16(self.target.arch.elf_machine()).u32(1);
        core.word(0).word(header_size as u64).word(0).u32(0);
        for half in [header_size as u16, entry_size as u16, count, 0, 0, 0] {
            core.u16(half);
        }
    }

    /// Offset, address, physical address, bytes in the file, bytes in memory, alignment. Where words have four bytes, the flags
    /// stand before the last.
    fn program_header(&self, core: &mut TargetBytes, kind: u32, flags: u32, words: [u64; 6]) {
        let is_wide = self.target.word_size() == 8;
        core.u32(kind);
        if is_wide {
            core.u32(flags);
        }
        let [first @ .., align] = words;
        first.iter().for_each(|word| _ = core.word(*word));
        if !is_wide {
            core.u32(flags);
        }
        core.word(align);
    }
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
pub fn files(maps: &[MapLine], target: Target) -> Vec<u8> {
    let files: Vec<&MapLine> = maps.iter().filter(|map| map.is_file()).collect();
    let mut note = TargetBytes::new(target);
    note.word(files.len() as u64).word(PAGE);
    for map in &files {
        let page = map.offset.get().checked_div(PAGE).unwrap_or_default();
        note.word(map.range.start.get()).word(map.range.end.get()).word(page);
    }
    for map in files {
        note.raw(&map.name).raw(&[0]);
    }
    note.finish()
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
        let note = files(&maps, Target::X86_64);
        let word = |at: usize| u64::from_le_bytes(note[at * 8..at * 8 + 8].try_into().unwrap());
        assert_eq!([0, 1, 2, 3, 4].map(word), [1, 4096, 0x1000, 0x3000, 2]);
        assert_eq!(&note[40..], b"/bin/a b\0");
    }
}
