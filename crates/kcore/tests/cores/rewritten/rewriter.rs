//! A core taken apart and written again: the same process, as another kernel or another collector
//! would have written it.

use std::ops::Range;

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const SECTION_HEADER: usize = 64;
const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;
const PN_XNUM: u16 = 0xffff;
/// Where no program has anything mapped.
const EMPTY_AREA: u64 = 0x1000_0000_0000;

/// A segment and its bytes.
#[derive(Clone)]
pub struct Segment {
    pub kind: u32,
    pub flags: u32,
    pub start: u64,
    pub mem_size: u64,
    pub bytes: Vec<u8>,
}

/// The parts of a 64-bit little-endian core.
#[derive(Clone)]
pub struct Rewriter {
    header: Vec<u8>,
    pub segments: Vec<Segment>,
}

/// A core that was written.
pub struct Written {
    pub bytes: Vec<u8>,
    /// Where the program headers lie.
    pub table: Range<usize>,
    /// Where the first note segment lies.
    pub notes: Range<usize>,
}

impl Segment {
    pub fn is_load(&self) -> bool {
        self.kind == PT_LOAD
    }

    /// A mapping of which nothing was dumped, as the kernel writes a guard page.
    fn empty(index: u64) -> Self {
        let start = EMPTY_AREA + index * 0x2000;
        Self { kind: PT_LOAD, flags: 0, start, mem_size: 0x1000, bytes: Vec::new() }
    }
}

impl Rewriter {
    pub fn new(core: &[u8]) -> Self {
        let table = word(core, 32) as usize;
        let count = usize::from(half(core, 56));
        let segments = (0..count).map(|index| read_segment(core, table + index * PROGRAM_HEADER));
        Self { header: core[..HEADER].to_vec(), segments: segments.collect() }
    }

    /// Gives every note of a type another type, which nobody knows.
    pub fn hide_notes(&mut self, kind: u32) {
        for segment in self.segments.iter_mut().filter(|segment| segment.kind == PT_NOTE) {
            for note in notes(&segment.bytes) {
                let at = note.start + 8;
                if segment.bytes[at..at + 4] == kind.to_le_bytes() {
                    segment.bytes[at..at + 4].copy_from_slice(&0x7fff_fff0_u32.to_le_bytes());
                }
            }
        }
    }

    /// Adds a note of the kernel (`LINUX`) behind the first one, which is a thread's registers.
    pub fn add_note(&mut self, kind: u32, desc: &[u8]) {
        self.add_note_of(*b"LINUX\0\0\0", kind, desc);
    }

    /// The same of an owner, whose name has zeros behind it.
    pub fn add_note_of(&mut self, owner: [u8; 8], kind: u32, desc: &[u8]) {
        let segment = self.segments.iter_mut().find(|segment| segment.kind == PT_NOTE);
        let bytes = &mut segment.expect("notes").bytes;
        let at = notes(bytes)[0].end;
        let name = owner.iter().take_while(|byte| **byte != 0).count() as u32 + 1;
        let head = [name, desc.len() as u32, kind].map(u32::to_le_bytes).concat();
        let mut note = [head.as_slice(), &owner, desc].concat();
        note.resize(note.len().next_multiple_of(4), 0);
        bytes.splice(at..at, note);
    }

    /// Leaves out the bytes of the segments that `are`.
    pub fn leave_out(&mut self, are: impl Fn(&Segment) -> bool) {
        let loads = self.segments.iter_mut().filter(|segment| segment.is_load());
        loads.filter(|segment| are(segment)).for_each(|segment| segment.bytes.clear());
    }

    /// Adds `count` mappings without bytes, among those that are there.
    pub fn add_empty(&mut self, count: u64) {
        let middle = self.segments.len() / 2;
        let empty = (0..count).map(Segment::empty);
        self.segments.splice(middle..middle, empty);
    }

    /// The notes, then the bytes of the segments in their order, without any alignment.
    pub fn write(&self) -> Written {
        let many = self.segments.len() >= usize::from(PN_XNUM);
        let table = HEADER..HEADER + self.segments.len() * PROGRAM_HEADER;
        let mut offset = table.end;
        let mut bytes = self.header.clone();
        let mut notes = 0..0;
        for segment in &self.segments {
            if segment.kind == PT_NOTE {
                notes = offset..offset + segment.bytes.len();
            }
            bytes.extend(program_header(segment, offset as u64));
            offset += segment.bytes.len();
        }
        bytes.extend(self.segments.iter().flat_map(|segment| &segment.bytes));
        self.patch_header(&mut bytes, many);
        if many {
            bytes.extend(section_with_count(self.segments.len() as u32));
        }
        Written { bytes, table, notes }
    }

    fn patch_header(&self, bytes: &mut [u8], many: bool) {
        let sections = if many { bytes.len() as u64 } else { 0 };
        let count = if many { PN_XNUM } else { self.segments.len() as u16 };
        bytes[32..40].copy_from_slice(&(HEADER as u64).to_le_bytes());
        bytes[40..48].copy_from_slice(&sections.to_le_bytes());
        bytes[56..58].copy_from_slice(&count.to_le_bytes());
        bytes[60..62].copy_from_slice(&u16::from(many).to_le_bytes());
        bytes[62..64].fill(0);
    }
}

/// The places of the notes in a segment.
pub fn notes(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + 12 <= bytes.len() {
        let size = |field| u32_at(bytes, at + field).next_multiple_of(4) as usize;
        let end = at + 12 + size(0) + size(4);
        found.push(at..end);
        at = end;
    }
    found
}

fn read_segment(core: &[u8], at: usize) -> Segment {
    let raw = &core[at..at + PROGRAM_HEADER];
    let (offset, file_size) = (word(raw, 8) as usize, word(raw, 32) as usize);
    Segment {
        kind: u32_at(raw, 0),
        flags: u32_at(raw, 4),
        start: word(raw, 16),
        mem_size: word(raw, 40),
        bytes: core[offset..offset + file_size].to_vec(),
    }
}

fn program_header(segment: &Segment, offset: u64) -> Vec<u8> {
    let file_size = segment.bytes.len() as u64;
    let words = [offset, segment.start, 0, file_size, segment.mem_size, 1];
    let halves = [segment.kind, segment.flags].map(u32::to_le_bytes).concat();
    [halves, words.map(u64::to_le_bytes).concat()].concat()
}

/// Section header 0 of a file with too many program headers: their number in `sh_info`.
fn section_with_count(count: u32) -> Vec<u8> {
    let mut section = vec![0; SECTION_HEADER];
    section[44..48].copy_from_slice(&count.to_le_bytes());
    section
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().expect("two bytes"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
