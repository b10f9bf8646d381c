//! The memory of a minidump, in the order of addresses and without overlaps.

use std::collections::BTreeMap;

/// Parts of memory, at most.
const MAX_PARTS: usize = 1 << 16;

/// Memory by its first address.
#[derive(Debug)]
pub struct Memory<'a> {
    parts: BTreeMap<u64, &'a [u8]>,
    /// Bytes that may still be added.
    room: usize,
}

impl<'a> Memory<'a> {
    /// Nothing yet, and room for as many bytes.
    pub const fn new(room: usize) -> Self {
        Self { parts: BTreeMap::new(), room }
    }

    /// Adds what of a part is not there yet. Of two that overlap the one that came first counts.
    pub fn add(&mut self, at: u64, bytes: &'a [u8]) {
        let (mut at, mut bytes) = (at, bytes);
        if let Some((start, before)) = self.parts.range(..=at).next_back() {
            let end = start.saturating_add(before.len() as u64);
            let known = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
            bytes = bytes.get(known.min(bytes.len())..).unwrap_or_default();
            at = at.max(end);
        }
        let next = self.parts.range(at..).next().map(|(next, _)| next.saturating_sub(at));
        let left = next.and_then(|left| usize::try_from(left).ok()).unwrap_or(usize::MAX);
        let to_end = usize::try_from(u64::MAX.saturating_sub(at)).unwrap_or(usize::MAX);
        let len = bytes.len().min(left).min(to_end).min(self.room);
        let bytes = bytes.get(..len).unwrap_or_default();
        if !bytes.is_empty() && self.parts.len() < MAX_PARTS {
            self.room = self.room.saturating_sub(len);
            self.parts.insert(at, bytes);
        }
    }

    /// What of it lies from `start` to before `end`, lowest address first.
    pub fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, &'a [u8])> + '_ {
        let first = self.parts.range(..=start).next_back().map_or(start, |(at, _)| *at);
        let parts = self.parts.range(first.min(end)..end);
        parts.filter_map(move |(at, bytes)| {
            let skipped = usize::try_from(start.saturating_sub(*at)).unwrap_or(usize::MAX);
            let from = at.saturating_add(skipped as u64);
            let len = usize::try_from(end.saturating_sub(from)).unwrap_or(usize::MAX);
            let bytes = bytes.get(skipped..)?;
            let bytes = bytes.get(..len.min(bytes.len()))?;
            (!bytes.is_empty()).then_some((from, bytes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(memory: &Memory<'_>) -> Vec<(u64, Vec<u8>)> {
        memory.within(0, u64::MAX).map(|(at, bytes)| (at, bytes.to_vec())).collect()
    }

    #[test]
    fn of_what_overlaps_the_first_counts() {
        let mut memory = Memory::new(100);
        memory.add(10, &[1; 4]);
        memory.add(12, &[2; 4]);
        memory.add(8, &[3; 4]);
        memory.add(10, &[4; 2]);
        assert_eq!(shown(&memory), [(8, vec![3; 2]), (10, vec![1; 4]), (14, vec![2; 2])]);
    }

    #[test]
    fn there_is_no_more_of_it_than_there_is_room() {
        let mut memory = Memory::new(6);
        memory.add(0, &[1; 4]);
        memory.add(100, &[2; 4]);
        memory.add(200, &[3; 4]);
        assert_eq!(shown(&memory), [(0, vec![1; 4]), (100, vec![2; 2])]);
        let mut memory = Memory::new(100);
        memory.add(u64::MAX - 3, &[1; 8]);
        assert_eq!(shown(&memory), [(u64::MAX - 3, vec![1; 3])]);
        assert!(memory.within(8, 8).next().is_none());
    }
}
