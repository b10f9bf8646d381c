//! Pages: runs of blocks of one size.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::layout::{PageLayout, Start};

/// Bytes of a slice, of which pages have a few.
pub(super) const SLICE: u64 = 1 << 16;
/// In older releases the size of a block says that it takes all slices of its page.
const HUGE: u64 = 0x8000_0000;
/// Marks in the low bits of the list that other threads add to.
const MARKS: u64 = 3;

/// A page as its descriptor tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    /// Where the descriptor lies.
    pub(super) at: Addr,
    /// The first block.
    pub(super) start: Addr,
    pub(super) block_size: u64,
    /// Blocks that were handed out or are in lists.
    pub(super) capacity: u64,
    /// Blocks that the program has, and those that other threads freed.
    pub(super) used: u64,
    /// The heads of the lists of free blocks: free, freed by the owner since, freed by others.
    pub(super) lists: [Addr; 3],
    /// The keys that links are encoded with.
    pub(super) keys: Option<[u64; 2]>,
    /// Whose it is: in 2.x a heap, in 3.x a thread pointer; null if its thread is gone.
    pub(super) heap: Addr,
    /// The thread pointer of the owner; 0 if it is gone.
    pub(super) thread: u64,
    /// Whether blocks end with a word that tells how much was asked for.
    is_padded: bool,
}

/// Where a page lies, if its descriptor does not say so: its first slice, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slices {
    pub(super) first: Addr,
    pub(super) count: u64,
}

impl Page {
    /// The page whose descriptor lies at `at`; `None` where there are no bytes, or no page that could be one.
    pub(super) fn load(
        space: &dyn AddressSpace,
        layout: &PageLayout,
        at: Addr,
        slices: Option<Slices>,
        thread: u64,
    ) -> Option<Self> {
        let uint = |offset: u64, size: usize| space.read_uint(at.checked_add(offset)?, size).ok();
        let word = |offset: u64| uint(offset, 8);
        let told = uint(layout.block_size.0, layout.block_size.1)?;
        let block_size = match slices {
            Some(slices) if told == HUGE && layout.block_size.1 == 4 => {
                slices.count.checked_mul(SLICE)?
            }
            _ => told,
        };
        let start = start(space, layout, at, slices, block_size)?;
        let (capacity, reserved) = (uint(layout.capacity, 2)?, uint(layout.reserved, 2)?);
        let page = Self {
            at,
            start,
            block_size,
            capacity,
            used: uint(layout.used.0, layout.used.1)?,
            lists: [
                Addr::new(word(layout.free)?),
                Addr::new(word(layout.local_free)?),
                Addr::new(word(layout.thread_free)? & !MARKS),
            ],
            keys: match layout.keys {
                Some(offset) => Some([word(offset)?, word(offset.checked_add(8)?)?]),
                None => None,
            },
            heap: Addr::new(match slices {
                Some(_) => word(layout.heap)?,
                None => thread,
            }),
            thread,
            is_padded: layout.is_padded,
        };
        let is_page =
            (8..1 << 47).contains(&block_size) && capacity <= reserved && page.used <= capacity;
        (is_page && page.start.checked_add(block_size.checked_mul(reserved)?).is_some())
            .then_some(page)
    }

    /// The memory of its blocks.
    pub(super) fn range(&self) -> AddrRange {
        AddrRange::with_len(self.start, self.block_size.saturating_mul(self.capacity))
    }

    /// A block by its index.
    pub(super) fn block(&self, index: u64) -> AddrRange {
        let at = self.start.saturating_add(index.saturating_mul(self.block_size));
        AddrRange::with_len(at, self.block_size)
    }

    /// The index of the block that begins at an address.
    pub(super) fn index_of(&self, at: Addr) -> Option<u64> {
        let into = at.offset_from(self.start)?;
        let index = into.checked_div(self.block_size)?;
        (into.checked_rem(self.block_size) == Some(0) && index < self.capacity).then_some(index)
    }

    /// The block that a link leads to; `None` at the end of a list. Encoded ends lead to the page's descriptor.
    pub(super) fn decode(&self, link: u64) -> Option<Addr> {
        decode(self.keys, self.at, link)
    }

    /// How many bytes the program may use, by the word at the end of a used block, if that proves itself (`mi_padding_t`):
    /// as many as it asked for, and a word at least.
    pub(super) fn padded(&self, space: &dyn AddressSpace, block: AddrRange) -> Option<u64> {
        let keys = self.keys.filter(|_| self.is_padded)?;
        let word = space.read_uint(Addr::new(block.end.get().checked_sub(8)?), 8).ok()?;
        let canary = encode(keys, block.start) & 0xffff_ff00;
        let usable = self.block_size.checked_sub(8)?.checked_sub(word >> 32)?;
        (word & 0xffff_ffff == canary).then_some(usable)
    }
}

/// See `mi_ptr_decode`.
pub(super) fn decode(keys: Option<[u64; 2]>, null: Addr, link: u64) -> Option<Addr> {
    let plain = match keys {
        Some([first, second]) => link.wrapping_sub(first).rotate_right(first as u32 & 63) ^ second,
        None => link,
    };
    let is_end = plain == 0 || (keys.is_some() && plain == null.get());
    (!is_end).then_some(Addr::new(plain))
}

/// See `mi_ptr_encode`.
fn encode([first, second]: [u64; 2], at: Addr) -> u64 {
    (at.get() ^ second).rotate_left(first as u32 & 63).wrapping_add(first)
}

fn start(
    space: &dyn AddressSpace,
    layout: &PageLayout,
    at: Addr,
    slices: Option<Slices>,
    block_size: u64,
) -> Option<Addr> {
    let behind = |bytes: u64| slices.map(|slices| slices.first.saturating_add(bytes));
    match layout.start {
        Start::Behind(bytes) => behind(if (8..=1024).contains(&block_size) { bytes } else { 0 }),
        Start::Blocks => behind(match block_size {
            8..=64 => block_size.saturating_mul(3),
            65..=512 => block_size,
            _ => 0,
        }),
        Start::Stored(offset) => space.read_addr(at.checked_add(offset)?).ok(),
        Start::Words(offset) => {
            let words = space.read_uint(at.checked_add(offset)?, 4).ok()?;
            at.checked_add(words.checked_mul(8)?)
        }
    }
    .filter(|start| start.get() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_decoded_with_the_keys_of_their_page() {
        let keys = [0x1234_5678_9abc_def7, 0x0fed_cba9_8765_4321];
        let (null, at) = (Addr::new(0x2000_0108), Addr::new(0x2001_0040));
        assert_eq!(decode(Some(keys), null, encode(keys, at)), Some(at));
        assert_eq!(decode(Some(keys), null, encode(keys, null)), None);
        assert_eq!(
            (decode(None, null, 0), decode(None, null, 0x40)),
            (None, Some(Addr::new(0x40)))
        );
    }
}
