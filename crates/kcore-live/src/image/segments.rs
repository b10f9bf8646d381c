//! The segments of a snapshot: mappings, split where some of their bytes were copied.

use kcore_elf::core_file::MapLine;
use kcore_mem::{Addr, AddrRange};

use super::Segment;
use crate::Piece;

/// What a stack that was mapped meanwhile may be: read and written.
const NEW_FLAGS: u32 = 6;

/// A segment, and its bytes in parts that lie behind each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    pub segment: Segment,
    pub bytes: Vec<&'a [u8]>,
}

/// Segments for all mappings; of those parts that were copied with bytes. Of pieces that overlap,
/// those of one instant hold the same.
pub fn of<'a>(maps: &[MapLine], mut pieces: Vec<Piece<'a>>) -> Vec<Part<'a>> {
    pieces.sort_by_key(|piece| piece.start);
    let mut pieces = pieces.into_iter().peekable();
    let mut parts = Parts::default();
    for map in maps {
        while let Some(piece) = pieces.next_if(|piece| piece.start < map.range.start) {
            parts.copied(piece, None, NEW_FLAGS);
        }
        parts.next = parts.next.max(map.range.start);
        while let Some(piece) = pieces.next_if(|piece| piece.start < map.range.end) {
            parts.gap(piece.start, map.flags);
            parts.copied(piece, Some(map.range.end), map.flags);
        }
        parts.gap(map.range.end, map.flags);
    }
    pieces.for_each(|piece| parts.copied(piece, None, NEW_FLAGS));
    parts.all
}

#[derive(Default)]
struct Parts<'a> {
    all: Vec<Part<'a>>,
    /// Where the next segment may begin.
    next: Addr,
    /// Where a segment with bytes ends to which more may be added.
    open: Option<Addr>,
}

impl<'a> Parts<'a> {
    /// Up to `end` nothing was copied.
    fn gap(&mut self, end: Addr, flags: u32) {
        if end <= self.next {
            return;
        }
        let range = AddrRange::new(self.next, end);
        self.all.push(Part { segment: Segment { range, flags, file_size: 0 }, bytes: Vec::new() });
        self.next = end;
        self.open = None;
    }

    /// Takes what of a piece is new, up to `end`.
    fn copied(&mut self, piece: Piece<'a>, end: Option<Addr>, flags: u32) {
        let start = self.next.max(piece.start);
        let skipped = start.offset_from(piece.start).and_then(|by| usize::try_from(by).ok());
        let bytes = skipped.and_then(|by| piece.bytes.get(by..)).unwrap_or_default();
        let room = end.and_then(|end| usize::try_from(end.offset_from(start)?).ok());
        let bytes = bytes.get(..room.unwrap_or(bytes.len())).unwrap_or(bytes);
        if bytes.is_empty() {
            return;
        }
        let end = start.saturating_add(bytes.len() as u64);
        match self.all.last_mut() {
            Some(last) if self.open == Some(start) && last.segment.flags == flags => {
                last.segment.range.end = end;
                last.segment.file_size = last.segment.range.len();
                last.bytes.push(bytes);
            }
            _ => {
                let range = AddrRange::new(start, end);
                let segment = Segment { range, flags, file_size: range.len() };
                self.all.push(Part { segment, bytes: vec![bytes] });
            }
        }
        self.next = end;
        self.open = Some(end);
    }
}

#[cfg(test)]
mod tests {
    use kcore_elf::core_file::parse_maps;

    use super::*;

    fn piece(start: u64, bytes: &'static [u8]) -> Piece<'static> {
        Piece { start: Addr::new(start), bytes }
    }

    /// First address, length, and bytes of each segment.
    fn shown(maps: &str, pieces: Vec<Piece<'static>>) -> Vec<(u64, u64, Vec<u8>)> {
        of(&parse_maps(maps.as_bytes()), pieces)
            .iter()
            .map(|part| {
                let Segment { range, file_size, .. } = part.segment;
                let bytes = part.bytes.concat();
                assert_eq!(bytes.len() as u64, file_size);
                (range.start.get(), range.len(), bytes)
            })
            .collect()
    }

    #[test]
    fn a_mapping_is_split_where_it_was_copied() {
        let parts = shown("10-20 rw-p 0 0:0 0\n20-28 r--p 0 0:0 0", vec![piece(0x14, b"abcd")]);
        let wanted =
            [(0x10, 4, vec![]), (0x14, 4, b"abcd".to_vec()), (0x18, 8, vec![]), (0x20, 8, vec![])];
        assert_eq!(parts, wanted);
    }

    #[test]
    fn pieces_that_touch_or_overlap_are_one_segment() {
        let pieces = vec![piece(0x14, b"ef"), piece(0x10, b"abcd"), piece(0x12, b"cdef")];
        assert_eq!(
            shown("10-18 rw-p 0 0:0 0", pieces),
            [(0x10, 6, b"abcdef".to_vec()), (0x16, 2, vec![])]
        );
    }

    #[test]
    fn what_was_mapped_meanwhile_is_a_segment_of_its_own() {
        let parts = shown("20-28 rw-p 0 0:0 0", vec![piece(0x30, b"z"), piece(0x8, b"a")]);
        assert_eq!(parts, [(0x8, 1, b"a".to_vec()), (0x20, 8, vec![]), (0x30, 1, b"z".to_vec())]);
    }

    #[test]
    fn a_piece_ends_with_its_mapping() {
        let parts = shown("10-12 rw-p 0 0:0 0\n12-14 r--p 0 0:0 0", vec![piece(0x11, b"abc")]);
        assert_eq!(parts, [(0x10, 1, vec![]), (0x11, 1, b"a".to_vec()), (0x12, 2, vec![])]);
    }
}
