//! Where copied memory goes while a process stands still: one buffer that is there beforehand.

use kcore_mem::AddrRange;

use crate::{LiveMemory, Piece, freeze::Deadline};

/// Bytes that one call copies, at most: between two calls the tracer looks at the clock.
const MAX_AT_ONCE: u64 = 1 << 20;

/// Memory that was copied, piece behind piece.
#[derive(Debug, Default)]
pub struct Arena {
    bytes: Vec<u8>,
    pieces: Vec<(AddrRange, usize)>,
}

impl Arena {
    /// Room for so many bytes, every page of which was touched: a page fault costs more than the
    /// copy of the page.
    pub fn with_room(bytes: usize, pieces: usize) -> Self {
        let mut room = Vec::with_capacity(bytes);
        // Zeros would be given by the system, untouched.
        room.resize(bytes, 1);
        room.clear();
        Self { bytes: room, pieces: Vec::with_capacity(pieces) }
    }

    /// Copies each range up to its first page that refuses. The answers are the bytes that were
    /// copied of each; nothing is copied any more after the deadline.
    pub fn copy(
        &mut self,
        memory: &LiveMemory,
        ranges: &[AddrRange],
        deadline: Deadline<'_>,
    ) -> Vec<u64> {
        ranges.iter().map(|range| self.copy_one(memory, *range, deadline)).collect()
    }

    fn copy_one(&mut self, memory: &LiveMemory, range: AddrRange, deadline: Deadline<'_>) -> u64 {
        let offset = self.bytes.len();
        let mut at = range.start;
        while at < range.end && !deadline.is_over() {
            let part = AddrRange::new(at, range.end.min(at.saturating_add(MAX_AT_ONCE)));
            let read = memory.append(part, &mut self.bytes);
            at = at.saturating_add(read);
            if read < part.len() {
                break;
            }
        }
        let copied = AddrRange::new(range.start, at);
        if !copied.is_empty() {
            self.pieces.push((copied, offset));
        }
        copied.len()
    }

    /// Takes one more piece, of any source.
    pub fn add(&mut self, range: AddrRange, bytes: &[u8]) {
        self.pieces.push((range, self.bytes.len()));
        self.bytes.extend_from_slice(bytes);
    }

    /// How many pieces were copied so far.
    pub fn count(&self) -> usize {
        self.pieces.len()
    }

    /// What was copied.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.pieces_from(0)
    }

    /// What was copied behind the first `count` pieces.
    pub fn pieces_from(&self, count: usize) -> impl Iterator<Item = Piece<'_>> {
        let pieces = self.pieces.get(count..).unwrap_or_default();
        pieces.iter().filter_map(|(range, offset)| {
            let len = usize::try_from(range.len()).ok()?;
            let bytes = self.bytes.get(*offset..)?.get(..len)?;
            Some(Piece { start: range.start, bytes })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kcore_mem::Addr;

    use super::*;

    fn range(bytes: &[u8]) -> AddrRange {
        AddrRange::with_len(Addr::new(bytes.as_ptr() as u64), bytes.len() as u64)
    }

    fn soon() -> Deadline<'static> {
        Deadline::after(Duration::from_secs(60), None)
    }

    #[test]
    fn every_range_is_copied_whatever_the_way() {
        let texts = [&b"one"[..], b"three", b"two", b"four"].map(<[u8]>::to_vec);
        let big = vec![7_u8; (3 << 20) | 5];
        let mut ranges: Vec<AddrRange> = texts.iter().map(|text| range(text)).collect();
        ranges.push(range(&big));
        for by_call in [false, true] {
            let mut arena = Arena::with_room(16, 1);
            let copied = arena.copy(&LiveMemory::of_self(by_call), &ranges, soon());
            assert_eq!(copied, ranges.iter().map(AddrRange::len).collect::<Vec<_>>());
            let pieces: Vec<&[u8]> = arena.pieces().map(|piece| piece.bytes).collect();
            assert_eq!(pieces[..4], texts.each_ref().map(Vec::as_slice));
            assert!(pieces[4] == big);
            assert_eq!(arena.pieces_from(3).count(), 2);
        }
    }

    #[test]
    fn a_page_that_refuses_costs_nothing_but_what_lies_behind_it() {
        let text = b"behind".to_vec();
        let ranges = [AddrRange::with_len(Addr::new(16), 4096), range(&text)];
        for by_call in [false, true] {
            let mut arena = Arena::default();
            assert_eq!(arena.copy(&LiveMemory::of_self(by_call), &ranges, soon()), [0, 6]);
            assert_eq!(arena.count(), 1);
        }
    }

    #[test]
    fn nothing_is_copied_after_the_deadline() {
        let text = b"late".to_vec();
        let mut arena = Arena::default();
        let stop = std::sync::atomic::AtomicBool::new(true);
        let over = Deadline::after(Duration::from_secs(60), Some(&stop));
        assert_eq!(arena.copy(&LiveMemory::of_self(false), &[range(&text)], over), [0]);
    }
}
