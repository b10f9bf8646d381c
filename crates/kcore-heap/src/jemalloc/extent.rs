//! Extents: runs of pages, each with a descriptor of 128 bytes.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::layout::{ARENA, Layout, SLAB};

/// Bytes of a descriptor.
const DESCRIPTOR: usize = 128;
const PAGE: u64 = 4096;
/// Where its words lie, in words.
const ADDRESS: usize = 1;
const SIZE: usize = 2;
const BITMAP: usize = 8;
/// Words of the bitmap of a slab.
const BITMAP_WORDS: usize = 8;
/// Blocks of a slab, at most.
pub(super) const MAX_BLOCKS: u64 = 512;

/// What became of an extent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ExtentState {
    /// It holds blocks.
    Active,
    /// It is free, and its pages still have contents.
    Dirty,
    /// It is free, and the system may take its pages.
    Muzzy,
    /// It is free, and its pages were given back: only the addresses are kept.
    Retained,
    /// Some thread is just changing it.
    Changing,
}

impl ExtentState {
    const fn of(value: u64) -> Self {
        match value {
            0 => Self::Active,
            1 => Self::Dirty,
            2 => Self::Muzzy,
            3 => Self::Retained,
            _ => Self::Changing,
        }
    }
}

/// A run of pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Where its descriptor lies.
    pub(super) descriptor: Addr,
    /// Its first block: in a large extent, a random offset into the first page.
    pub(super) at: Addr,
    /// Its pages.
    pub(super) pages: AddrRange,
    pub(super) arena: u16,
    pub(super) is_slab: bool,
    pub(super) state: ExtentState,
    /// The size class of its blocks.
    pub(super) class: u8,
    /// Of a slab: how many blocks are free.
    pub(super) free: u64,
    /// The descriptor's words.
    words: [u64; DESCRIPTOR / 8],
}

impl Extent {
    /// The extent whose descriptor lies at an address; `None` where there are no bytes, or where it has no pages.
    pub(super) fn load(
        space: &dyn AddressSpace,
        layout: &Layout,
        descriptor: Addr,
    ) -> Option<Self> {
        let words = words(space, descriptor)?;
        let [bits, at, size, ..] = words;
        let page = Addr::new(at & !PAGE.wrapping_sub(1));
        let bytes = size & !PAGE.wrapping_sub(1);
        (bytes > 0 && page.checked_add(bytes).is_some()).then_some(Self {
            descriptor,
            at: Addr::new(at),
            pages: AddrRange::with_len(page, bytes),
            arena: ARENA.of(bits) as u16,
            is_slab: SLAB.of(bits) == 1,
            state: ExtentState::of(layout.state.of(bits)),
            class: layout.class.of(bits) as u8,
            free: layout.free.of(bits),
            words,
        })
    }

    /// Where the word of the descriptor lies that counts, names and classes.
    pub(super) const fn bits_at(&self) -> Addr {
        self.descriptor
    }

    /// How many blocks of a size it has, if it is a slab.
    pub(super) fn blocks(&self, size: u64) -> u64 {
        self.pages.len().checked_div(size).unwrap_or(0).min(MAX_BLOCKS)
    }

    /// Of a slab: the bits of its free blocks, without those behind the last one, which mean nothing.
    pub(super) fn bitmap(&self, blocks: u64) -> [u64; BITMAP_WORDS] {
        let mut bitmap = [0; BITMAP_WORDS];
        let words = self.words.iter().skip(BITMAP);
        for (index, (into, word)) in bitmap.iter_mut().zip(words).enumerate() {
            let left = blocks.saturating_sub((index as u64).wrapping_mul(64));
            *into = word & low_bits(left);
        }
        bitmap
    }

    /// A word of the descriptor, by its offset in bytes.
    pub(super) fn word(&self, offset: u64) -> Option<u64> {
        usize::try_from(offset / 8).ok().and_then(|index| self.words.get(index)).copied()
    }
}

/// So many low bits.
const fn low_bits(count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { 1_u64.wrapping_shl(count as u32).wrapping_sub(1) }
}

/// Where a descriptor says that its extent begins: all that a search asks.
pub(super) fn address_in(space: &dyn AddressSpace, descriptor: Addr) -> Option<u64> {
    space.read_word(descriptor.checked_add((ADDRESS as u64).wrapping_mul(8))?).ok()
}

fn words(space: &dyn AddressSpace, at: Addr) -> Option<[u64; DESCRIPTOR / 8]> {
    let mut bytes = [0_u8; DESCRIPTOR];
    match space.slice(at).ok()?.first_chunk::<DESCRIPTOR>() {
        Some(chunk) => bytes = *chunk,
        None => space.read(at, &mut bytes).ok()?,
    }
    let mut words = [0; DESCRIPTOR / 8];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    debug_assert!(SIZE < words.len());
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_behind_the_last_block_are_no_free_blocks() {
        assert_eq!(
            (low_bits(0), low_bits(3), low_bits(64), low_bits(500)),
            (0, 7, u64::MAX, u64::MAX)
        );
    }
}
