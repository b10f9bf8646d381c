//! Blocks of PHP's own allocator: `zend_alloc.c`, `zend_alloc_sizes.h`. Chunks of 2 MiB begin at multiples of that, and each
//! has a map of its 512 pages. Where the map lies depends on the version, and is seen by what it says of the first page.

use kcore_mem::Addr;
use rustc_hash::FxHashMap;

use super::memory::Memory;

/// `ZEND_MM_CHUNK_SIZE`, `ZEND_MM_PAGE_SIZE`, `ZEND_MM_PAGES`.
const CHUNK: u64 = 2 << 20;
const PAGE: u64 = 4096;
const PAGES: u64 = 512;
/// `next` and `prev` of `zend_mm_chunk`, its `heap_slot`, and `size` of `zend_mm_heap`.
const NEXT: u64 = 8;
const PREVIOUS: u64 = 16;
const HEAP: u64 = 64;
const IN_USE: u64 = 16;
/// Bytes of a map, of the bits of free pages before it, and of an entry.
const MAP: u64 = PAGES * 4;
const ENTRY: u64 = 4;
/// `ZEND_MM_IS_LRUN`, `ZEND_MM_IS_SRUN`.
const LARGE: u64 = 0x4000_0000;
const SMALL: u64 = 0x8000_0000;
/// What the map says of the first page, which holds the map: one page in use.
const FIRST: u64 = LARGE | 1;
/// `bin_data_size`.
const SIZES: [u64; 30] = [
    8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640,
    768, 896, 1024, 1280, 1536, 1792, 2048, 2560, 3072,
];

/// A chunk that was seen to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chunk {
    heap: Addr,
    map: Addr,
}

/// The chunks that were asked about.
#[derive(Debug, Default)]
pub struct Chunks {
    known: FxHashMap<u64, Option<Chunk>>,
}

/// A block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it begins.
    pub at: Addr,
    /// Its bytes, as the allocator counts them.
    pub size: u64,
}

impl Chunks {
    /// The block of the allocator that holds an address. It may be free.
    pub fn block(&mut self, memory: &Memory<'_>, at: Addr) -> Option<Block> {
        let start = at.get().checked_rem(CHUNK).map(|inside| at.get().saturating_sub(inside))?;
        let chunk = (*self.known.entry(start).or_insert_with(|| chunk(memory, start)))?;
        let page = at.get().checked_sub(start)?.checked_div(PAGE)?;
        let entry = memory.uint(chunk.map, page.checked_mul(ENTRY)?, 4)?;
        match (entry & SMALL != 0, entry & LARGE != 0) {
            (true, _) => small(start, page, entry, at),
            (false, true) => {
                let pages = entry & (PAGES - 1);
                let begin = Addr::new(start.checked_add(page.checked_mul(PAGE)?)?);
                Some(Block { at: begin, size: pages.checked_mul(PAGE)? })
            }
            (false, false) => None,
        }
    }

    /// Bytes that the heap of an address has in use, which `memory_get_usage()` tells.
    pub fn in_use(&mut self, memory: &Memory<'_>, at: Addr) -> Option<u64> {
        self.block(memory, at)?;
        let start = at.get().checked_rem(CHUNK).map(|inside| at.get().saturating_sub(inside))?;
        memory.word((*self.known.get(&start)?)?.heap, IN_USE)
    }
}

/// A block among others of its size. The pages of a run but for the first say how many lie before them.
fn small(start: u64, page: u64, entry: u64, at: Addr) -> Option<Block> {
    let size = *SIZES.get(usize::try_from(entry & 31).ok()?)?;
    let before = if entry & LARGE != 0 { entry >> 16 & (PAGES - 1) } else { 0 };
    let run = start.checked_add(page.checked_sub(before)?.checked_mul(PAGE)?)?;
    let index = at.get().checked_sub(run)?.checked_div(size)?;
    Some(Block { at: Addr::new(run.checked_add(index.checked_mul(size)?)?), size })
}

/// The chunk that begins at an address; `None` unless its neighbours and its heap point back to it.
fn chunk(memory: &Memory<'_>, start: u64) -> Option<Chunk> {
    let at = Addr::new(start);
    let heap = memory.pointer(at, 0)?;
    let first = heap.get().checked_sub(HEAP).filter(|first| first.is_multiple_of(CHUNK))?;
    (memory.pointer(Addr::new(first), 0)? == heap).then_some(())?;
    (memory.pointer(memory.pointer(at, NEXT)?, PREVIOUS)? == at).then_some(())?;
    let end = PAGE.checked_sub(MAP)?;
    let offsets = (HEAP..=end).step_by(8);
    let map = { offsets }.find(|offset| memory.uint(at, *offset, 4) == Some(FIRST))?;
    Some(Chunk { heap, map: at.checked_add(map)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_a_run_are_told_from_any_page_of_it() {
        let start = 0x7f00_0020_0000;
        // The third page of a run of 320 bytes each.
        let at = Addr::new(start + 7 * PAGE + 2 * PAGE + 100);
        let entry = SMALL | LARGE | 2 << 16 | 16;
        let block = small(start, 9, entry, at).expect("a block");
        assert_eq!(block.size, 320);
        assert_eq!((block.at.get() - start - 7 * PAGE) % 320, 0);
        assert!(block.at <= at && at.get() < block.at.get() + block.size);
        assert_eq!(small(start, 1, SMALL | LARGE | 2 << 16 | 16, at), None);
        assert_eq!(small(start, 9, SMALL | 31, at), None);
    }
}
