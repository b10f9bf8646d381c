//! Spans: runs of pages (`Span` of `span.h`).

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::layout::Layout;

/// Bytes of a descriptor.
pub(super) const DESCRIPTOR: u64 = 64;
const WORDS: usize = DESCRIPTOR as usize / 8;

/// What a span holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// Blocks of the size class.
    Small(u16),
    /// One block.
    Large,
    /// One block that was sampled; what is known of it lies there (`SampledAllocation`).
    Sampled(Addr),
}

impl Content {
    /// The size class, where it has one.
    pub(super) const fn class(self) -> Option<u16> {
        match self {
            Self::Small(class) => Some(class),
            Self::Large | Self::Sampled(_) => None,
        }
    }
}

/// What a span knows of its blocks that it has not handed out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FreeParts {
    /// Those that its first free block lists.
    pub(super) embedded: u16,
    /// The first block of the list of blocks that list others; `u16::MAX` for none.
    pub(super) list: u16,
    /// How many of `cache` there are.
    pub(super) cached: u16,
    /// Indices of free blocks, or the bitmap of them.
    pub(super) cache: [u64; 2],
}

/// A run of pages that the page heap handed out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    /// Where its descriptor lies.
    pub(super) at: Addr,
    /// The number of its first page, and how many it has.
    pub(super) first: u64,
    pub(super) pages: u64,
    pub(super) range: AddrRange,
    pub(super) content: Content,
    /// Blocks that it handed out, of a span with several small ones.
    counted: u64,
    pub(super) free: FreeParts,
}

impl Span {
    /// The span whose descriptor lies at `at`, entered in the map with a size class: 0 for one block.
    pub(super) fn load(
        space: &dyn AddressSpace,
        layout: Layout,
        at: Addr,
        class: u16,
    ) -> Option<Self> {
        let words = words(space, at)?;
        let [_, _, counts, marks, pages, second, third, _] = words;
        let first = marks & 1_u64.wrapping_shl(layout.page_bits()).wrapping_sub(1);
        let is = |bit: u32| marks.wrapping_shr(bit) & 1 == 1;
        let is_sampled = is(layout.large_bit().wrapping_add(1));
        let is_apart = is(layout.large_bit()) || is_sampled;
        let pages = if is_apart { pages } else { pages & 0x3f };
        let limit = 1_u64.wrapping_shl(layout.page_bits());
        let fits = pages > 0 && first > 0 && pages < limit.wrapping_sub(first);
        let content = match class {
            0 if is_sampled => Content::Sampled(Addr::new(second)),
            0 => Content::Large,
            class => Content::Small(class),
        };
        let is_meant = !is_apart || class == 0;
        let start = Addr::new(first.wrapping_shl(layout.lg_page));
        (fits && is_meant).then_some(Self {
            at,
            first,
            pages,
            range: AddrRange::with_len(start, pages.wrapping_shl(layout.lg_page)),
            content,
            counted: counts >> 32 & 0xffff,
            free: FreeParts {
                embedded: counts as u16,
                list: (counts >> 16) as u16,
                cached: (counts >> 48 & 0xf) as u16,
                cache: [second, third],
            },
        })
    }

    /// How many blocks of a size it has.
    pub(super) fn blocks(&self, size: u64) -> u64 {
        self.range.len().checked_div(size).unwrap_or(0)
    }

    /// How many blocks of a size it handed out. A span for one block alone counts none: it goes back with its block.
    pub(super) fn handed_out(&self, size: u64) -> u64 {
        if self.blocks(size) == 1 { 1 } else { self.counted }
    }

    /// The index of the block of a size that begins at an address.
    pub(super) fn index_of(&self, size: u64, at: Addr) -> Option<u64> {
        let into = at.offset_from(self.range.start)?;
        let index = into.checked_div(size)?;
        (into.checked_rem(size) == Some(0) && index < self.blocks(size)).then_some(index)
    }
}

fn words(space: &dyn AddressSpace, at: Addr) -> Option<[u64; WORDS]> {
    let mut bytes = [0_u8; DESCRIPTOR as usize];
    match space.slice(at).ok()?.first_chunk::<{ DESCRIPTOR as usize }>() {
        Some(chunk) => bytes = *chunk,
        None => space.read(at, &mut bytes).ok()?,
    }
    let mut words = [0; WORDS];
    for (word, chunk) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*chunk);
    }
    Some(words)
}
