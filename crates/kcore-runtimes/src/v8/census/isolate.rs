//! Where the data of an isolate lies.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::lab::MAX_BEFORE;

/// The data of an isolate goes on so far behind its heap, where nothing tells more.
const BEHIND_HEAP: u64 = 0x2000;
/// Isolates are smaller.
const MAX_SIZE: u64 = 1 << 20;

/// What glibc has before a piece of memory that it gave away (`struct malloc_chunk`, `malloc/malloc.c`): the size
/// of the one before, and its own size, the three lowest bits of which are flags.
const HEADER: u64 = 16;
const SIZE: u64 = 8;
const ALIGNMENT: u64 = 16;
/// The piece before is in use.
const PREVIOUS_IN_USE: u64 = 1;
/// The piece was mapped on its own.
const MAPPED: u64 = 2;
const FLAGS: u64 = 7;
const SMALLEST: u64 = 32;

/// Where the data of the isolate lies that a heap is of: the heap is a member of it (`Isolate::heap_`). V8 allocates
/// isolates with the C library, whose own data says where one begins and ends; where there is no such data it is
/// what isolates take on either side of their heaps, and may be more.
pub fn around_heap(space: &dyn AddressSpace, heap: Addr) -> AddrRange {
    let first = heap.get() & !(ALIGNMENT.saturating_sub(1));
    let places = (0..MAX_BEFORE)
        .step_by(ALIGNMENT as usize)
        .map_while(|by| first.checked_sub(HEADER)?.checked_sub(by).map(Addr::new));
    let mut pieces = places.filter_map(|header| piece(space, header));
    pieces.find(|piece| piece.contains(heap)).unwrap_or_else(|| {
        let first = Addr::new(heap.get().saturating_sub(MAX_BEFORE));
        AddrRange::new(first, heap.saturating_add(BEHIND_HEAP))
    })
}

/// The piece of memory that a header describes, if the one behind it agrees.
fn piece(space: &dyn AddressSpace, header: Addr) -> Option<AddrRange> {
    let size_of = |header: Addr| space.read_word(header.checked_add(SIZE)?).ok();
    let own = size_of(header)?;
    let size = own & !FLAGS;
    let is_one = own & MAPPED == 0 && (SMALLEST..MAX_SIZE).contains(&size);
    (is_one && size.is_multiple_of(ALIGNMENT)).then_some(())?;
    let next = size_of(header.checked_add(size)?)?;
    let is_used = next & PREVIOUS_IN_USE != 0 && next & MAPPED == 0;
    let is_next = is_used && next & !FLAGS >= SMALLEST && (next & !FLAGS).is_multiple_of(ALIGNMENT);
    // The last word of a piece is where the next one would have the size of a free one.
    is_next.then(|| AddrRange::with_len(header.saturating_add(HEADER), size.saturating_sub(SIZE)))
}
