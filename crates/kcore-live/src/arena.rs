//! Where copied memory goes while a process stands still: one buffer that is there beforehand.

use std::time::Instant;

use kcore_mem::AddrRange;

use crate::{LiveMemory, Piece, sys::vm::MAX_PIECES};

/// Bytes that one call copies, at most: between two calls the tracer looks at the clock.
const MAX_BATCH: u64 = 8 << 20;

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
        deadline: Instant,
    ) -> Vec<u64> {
        let mut copied = Vec::with_capacity(ranges.len());
        while let Some(rest) = ranges.get(copied.len()..).filter(|rest| !rest.is_empty()) {
            if Instant::now() > deadline {
                copied.resize(ranges.len(), 0);
                break;
            }
            let batch = rest.get(..batch_len(rest)).unwrap_or(rest);
            let total: u64 = batch.iter().map(AddrRange::len).fold(0, u64::saturating_add);
            self.bytes.reserve(usize::try_from(total).unwrap_or_default());
            let before = self.bytes.len();
            let read = memory.append(batch, &mut self.bytes);
            self.note(batch, before, read, &mut copied);
        }
        copied
    }

    /// Says to which ranges the bytes belong that were read. The range in which the reading stopped
    /// is done with: behind the page that refused lies nothing that belongs to it.
    fn note(&mut self, batch: &[AddrRange], start: usize, read: usize, copied: &mut Vec<u64>) {
        let (mut offset, mut left) = (start, read as u64);
        for range in batch {
            let len = range.len().min(left);
            if len > 0 {
                let held = AddrRange::with_len(range.start, len);
                self.pieces.push((held, offset));
            }
            copied.push(len);
            offset = offset.saturating_add(usize::try_from(len).unwrap_or_default());
            left = left.saturating_sub(len);
            if len < range.len() {
                return;
            }
        }
    }

    /// Takes one more piece, of any source.
    pub fn add(&mut self, range: AddrRange, bytes: &[u8]) {
        self.pieces.push((range, self.bytes.len()));
        self.bytes.extend_from_slice(bytes);
    }

    /// What was copied.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.pieces.iter().filter_map(|(range, offset)| {
            let len = usize::try_from(range.len()).ok()?;
            let bytes = self.bytes.get(*offset..)?.get(..len)?;
            Some(Piece { start: range.start, bytes })
        })
    }
}

/// How many ranges one call takes: at least one.
fn batch_len(ranges: &[AddrRange]) -> usize {
    let mut total: u64 = 0;
    let fits = |range: &&AddrRange| {
        total = total.saturating_add(range.len());
        total <= MAX_BATCH
    };
    ranges.iter().take(MAX_PIECES).take_while(fits).count().max(1)
}
