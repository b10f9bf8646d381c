//! A core with a part of the memory of another, and all of its notes.

use std::ops::Range;

use kcore_mem::{AddrRange, Cursor, Endian, Target};

use super::{
    CoreFile, CoreSegment,
    head::{Head, Segment},
    held_bytes,
    snapshot::{NT_EXCERPT, NT_MAPS, OWNER},
};

/// The parts of such a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// ELF header, program headers and notes.
    pub head: Vec<u8>,
    /// Where in the whole core the bytes lie that follow, in this order.
    pub memory: Vec<Range<usize>>,
}

impl Excerpt {
    /// Bytes of the new core.
    pub fn len(&self) -> u64 {
        self.memory
            .iter()
            .map(|part| part.len() as u64)
            .fold(self.head.len() as u64, u64::saturating_add)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl CoreFile {
    /// A core that has of the memory of this one what it holds of `wanted`, and of all other memory that it was mapped.
    /// `wanted` is in order, and its ranges do not overlap. `maps` are the mappings of the process as text.
    pub fn excerpt(&self, wanted: &[AddrRange], maps: Option<&str>) -> Excerpt {
        let loads = || self.segments().iter().filter(|segment| segment.is_load());
        // Segments of a damaged core may all have the same bytes.
        let mut parts = Parts { left: self.bytes().len() as u64, ..Parts::default() };
        for load in loads() {
            parts.take(load, self.held(load), wanted);
        }
        let Parts { segments, memory, .. } = parts;
        let held = loads().map(|load| held_bytes(self.bytes(), load).len() as u64);
        let notes = self.notes_of_excerpt(held.fold(0, u64::saturating_add), maps);
        Excerpt { head: Head::new(self.target(), &notes, &segments, 1).bytes, memory }
    }

    /// The addresses of a segment whose bytes the file has.
    fn held(&self, load: &CoreSegment) -> AddrRange {
        AddrRange::with_len(load.range.start, held_bytes(self.bytes(), load).len() as u64)
    }

    /// The notes as they are, one with the mappings, and one that says what the core is.
    fn notes_of_excerpt(&self, whole: u64, maps: Option<&str>) -> Vec<u8> {
        // One that was cut would take what follows for its own.
        let whole_ones = self.notes().filter(|it| !(it.owner == OWNER && it.kind == NT_EXCERPT));
        let mut notes = Vec::new();
        for it in whole_ones {
            notes.extend(note(it.owner, it.kind, it.desc, self.target()));
            // Segments of a damaged core may all have the same notes.
            if notes.len() > self.bytes().len() {
                break;
            }
        }
        // That of an earlier excerpt says how much there was before.
        let whole = self.excerpt_of().unwrap_or(whole);
        let whole = match self.target().endian {
            Endian::Little => whole.to_le_bytes(),
            Endian::Big => whole.to_be_bytes(),
        };
        let maps = maps.map(|maps| note(OWNER, NT_MAPS, maps.as_bytes(), self.target()));
        notes.extend(maps.unwrap_or_default());
        notes.extend(note(OWNER, NT_EXCERPT, &whole, self.target()));
        notes
    }
}

/// The segments of an excerpt, and their bytes.
#[derive(Default)]
struct Parts {
    segments: Vec<Segment>,
    memory: Vec<Range<usize>>,
    /// Bytes that may still be taken.
    left: u64,
}

impl Parts {
    /// Takes what is wanted of a segment, and the addresses between.
    fn take(&mut self, load: &CoreSegment, held: AddrRange, wanted: &[AddrRange]) {
        let first = wanted.partition_point(|range| range.end <= held.start);
        let parts = wanted.get(first..).unwrap_or_default().iter();
        let mut next = load.range.start;
        for part in parts.map_while(|range| range.intersection(&held)) {
            let bytes = bytes_of(load, part).filter(|_| part.len() <= self.left);
            let Some(bytes) = bytes else { break };
            self.left = self.left.saturating_sub(part.len());
            self.push(load, AddrRange::new(next, part.start), 0);
            self.push(load, part, part.len());
            self.memory.push(bytes);
            next = part.end;
        }
        self.push(load, AddrRange::new(next, load.range.end), 0);
    }

    fn push(&mut self, load: &CoreSegment, range: AddrRange, file_size: u64) {
        if !range.is_empty() {
            self.segments.push(Segment { range, flags: load.flags, file_size });
        }
    }
}

/// Where the bytes of a part of a segment lie in the file.
fn bytes_of(load: &CoreSegment, part: AddrRange) -> Option<Range<usize>> {
    let into = part.start.offset_from(load.range.start)?;
    let start = usize::try_from(load.offset.get().checked_add(into)?).ok()?;
    Some(start..start.checked_add(usize::try_from(part.len()).ok()?)?)
}

/// `Elf_Nhdr`, the owner with a NUL, and the descriptor.
pub(crate) fn note(owner: &[u8], kind: u32, desc: &[u8], target: Target) -> Vec<u8> {
    let word = |value: usize| {
        let value = u32::try_from(value).unwrap_or(u32::MAX);
        match target.endian {
            Endian::Little => value.to_le_bytes(),
            Endian::Big => value.to_be_bytes(),
        }
    };
    let owner = [owner, &[0]].concat();
    let mut note = [owner.len(), desc.len(), kind as usize].map(word).concat();
    for part in [&owner, desc] {
        note.extend_from_slice(part);
        note.resize(note.len().next_multiple_of(4), 0);
    }
    note
}

/// Reads the descriptor: bytes of memory that the whole core had.
pub(super) fn parse_note(desc: &[u8], target: Target) -> Option<u64> {
    Cursor::new(desc, target).uint(8).ok()
}

#[cfg(test)]
mod tests {
    use kcore_mem::{Addr, AddressSpace, Arch, Fault};

    use super::*;
    use crate::CoreSpace;

    fn range(start: u64, end: u64) -> AddrRange {
        AddrRange::new(Addr::new(start), Addr::new(end))
    }

    /// Memory at 0x1000 to 0x1010, of which 12 bytes were dumped, and at 0x2000 to 0x2008.
    fn whole(target: Target) -> CoreFile {
        let segments = [
            Segment { range: range(0x1000, 0x1010), flags: 6, file_size: 12 },
            Segment { range: range(0x2000, 0x2008), flags: 4, file_size: 8 },
        ];
        let mut bytes = Head::new(target, &[], &segments, 1).bytes;
        bytes.extend(1..=20);
        CoreFile::parse(bytes.into()).unwrap()
    }

    fn excerpt(core: &CoreFile, wanted: &[AddrRange]) -> CoreFile {
        let excerpt = core.excerpt(wanted, Some("1000-2000 rw-p 0 0:0 0\n"));
        let mut bytes = excerpt.head.clone();
        excerpt.memory.iter().for_each(|part| bytes.extend_from_slice(&core.bytes()[part.clone()]));
        assert_eq!(bytes.len() as u64, excerpt.len());
        CoreFile::parse(bytes.into()).unwrap()
    }

    #[test]
    fn what_is_wanted_is_there_and_the_rest_was_not_dumped() {
        let big = Target { arch: Arch::S390, endian: Endian::Big, word: 4 };
        for target in [Target::X86_64, big] {
            let wanted = [range(0x1004, 0x1006), range(0x100a, 0x2002)];
            let core = excerpt(&whole(target), &wanted);
            assert!(core.damage().is_empty(), "{:?}", core.damage());
            let space = CoreSpace::new(&core);
            assert_eq!(space.slice(Addr::new(0x1004)), Ok(&[5, 6][..]));
            assert_eq!(space.slice(Addr::new(0x100a)), Ok(&[11, 12][..]));
            assert_eq!(space.slice(Addr::new(0x2000)), Ok(&[13, 14][..]));
            for at in [0x1000, 0x1003, 0x1006, 0x100c, 0x100f, 0x2002].map(Addr::new) {
                assert_eq!(space.slice(at), Err(Fault::NotDumped(at)));
            }
            assert_eq!(space.slice(Addr::new(0x1010)), Err(Fault::Unmapped(Addr::new(0x1010))));
        }
    }

    #[test]
    fn it_says_what_it_is_a_part_of() {
        let first = excerpt(&whole(Target::X86_64), &[range(0x1000, 0x1008)]);
        assert_eq!(first.excerpt_of(), Some(20));
        assert_eq!(excerpt(&first, &[]).excerpt_of(), Some(20));
        assert_eq!(whole(Target::X86_64).excerpt_of(), None);
        assert_eq!(first.maps().unwrap()[0].range, range(0x1000, 0x2000));
    }

    #[test]
    fn notes_stay() {
        let word = |value: u32| value.to_le_bytes();
        let noted = [&[5, 3, 99].map(word).concat()[..], b"ABCD\0\0\0\0xyz\0"].concat();
        let bytes = Head::new(Target::X86_64, &noted, &[], 1).bytes;
        let core = excerpt(&CoreFile::parse(bytes.into()).unwrap(), &[]);
        let notes: Vec<_> = core.notes().map(|note| (note.owner.to_vec(), note.kind)).collect();
        let own = [NT_MAPS, NT_EXCERPT].map(|kind| (b"KCORE".to_vec(), kind));
        assert_eq!(notes, [&[(b"ABCD".to_vec(), 99)], &own[..]].concat());
    }
}
