//! Memory to which the words of stacks point: a runtime names what runs by objects that its frames
//! hold, which may have been made a moment ago, so that nobody could know of them beforehand.

use kcore_elf::core_file::MapLine;
use kcore_mem::{Addr, AddrRange};

use crate::Piece;

const PAGE: u64 = 4096;
/// Words that are looked at, at most: they are looked at while the process stands still.
const MAX_WORDS: usize = 1 << 19;
/// Pages that are copied so, at most.
const MAX_PAGES: usize = 2048;

/// The pages of `heaps` to which words of stacks and registers point, each once, lowest first. A word may have marks
/// of a runtime in its lowest bits.
pub fn pages<'a>(heaps: &[AddrRange], words: impl Iterator<Item = Piece<'a>>) -> Vec<AddrRange> {
    let bounds = heaps.first().zip(heaps.last()).map(|(first, last)| first.start..last.end);
    let Some(bounds) = bounds else { return Vec::new() };
    let words = words.flat_map(|piece| piece.bytes.chunks_exact(8));
    let words = words.take(MAX_WORDS).filter_map(<[u8]>::first_chunk);
    let mut found: Vec<u64> = words
        .map(|word| Addr::new(u64::from_ne_bytes(*word)))
        .filter(|at| bounds.contains(at) && is_in(heaps, *at))
        .map(|at| at.get() & !(PAGE - 1))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(MAX_PAGES);
    found.into_iter().map(|start| AddrRange::with_len(Addr::new(start), PAGE)).collect()
}

/// Mappings without a file in which objects may lie, the heap of C among them, lowest first.
pub fn heaps(maps: &[MapLine]) -> Vec<AddrRange> {
    const WRITE_AND_READ: u32 = 6;
    let may_hold = |map: &&MapLine| {
        map.inode == 0
            && map.flags & WRITE_AND_READ == WRITE_AND_READ
            && (map.name.is_empty() || map.name == b"[heap]" || map.name.starts_with(b"[anon"))
    };
    maps.iter().filter(may_hold).map(|map| map.range).collect()
}

fn is_in(ranges: &[AddrRange], at: Addr) -> bool {
    let after = ranges.partition_point(|range| range.start <= at);
    after.checked_sub(1).and_then(|index| ranges.get(index)).is_some_and(|range| range.contains(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_point_to_heaps_give_pages_each_once() {
        let maps = kcore_elf::core_file::parse_maps(
            b"10000-18000 rw-p 0 0:0 0\n18000-20000 r--p 0 0:0 0\n\
              30000-40000 rw-p 0 0:0 0 [heap]\n50000-60000 rw-p 0 0:0 0 [stack]\n",
        );
        let words = [0x3_0011_u64, 0x1_7fff, 0x1_8000, 0x3_0ff8, 0x5_0000, 7, u64::MAX];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let stack = Piece { start: Addr::new(0x5_0000), bytes: &bytes };
        let found = pages(&heaps(&maps), std::iter::once(stack));
        let starts: Vec<u64> = found.iter().map(|range| range.start.get()).collect();
        assert_eq!(starts, [0x1_7000, 0x3_0000]);
    }
}
