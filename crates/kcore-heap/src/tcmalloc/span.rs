//! Spans: runs of pages.

use kcore_mem::{Addr, AddrRange, AddressSpace};

/// Bytes of a descriptor that are read.
const DESCRIPTOR: usize = 48;

/// What became of a span.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Location {
    InUse,
    /// It is free.
    Normal,
    /// It is free, and the system has its memory back.
    Returned,
}

/// A run of pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Where its descriptor lies.
    pub(super) at: Addr,
    /// The number of its first page, and how many it has.
    pub(super) first: u64,
    pub(super) pages: u64,
    pub(super) range: AddrRange,
    /// The list of blocks that it has not handed out; of a sampled block, what is known of it.
    pub(super) objects: Addr,
    /// Blocks that it handed out.
    pub(super) handed_out: u64,
    /// The size class of its blocks; 0 for one large block.
    pub(super) class: u8,
    pub(super) location: Location,
    pub(super) is_sampled: bool,
}

impl Span {
    /// The span whose descriptor lies at `at`.
    pub(super) fn load(space: &dyn AddressSpace, at: Addr, lg_page: u32) -> Option<Self> {
        let mut bytes = [0_u8; DESCRIPTOR];
        match space.slice(at).ok()?.first_chunk::<DESCRIPTOR>() {
            Some(chunk) => bytes = *chunk,
            None => space.read(at, &mut bytes).ok()?,
        }
        let word = |index: usize| {
            bytes.as_chunks::<8>().0.get(index).map_or(0, |word| u64::from_le_bytes(*word))
        };
        let (first, pages, bits) = (word(0), word(1), word(5));
        let limit = 1_u64.wrapping_shl(48_u32.wrapping_sub(lg_page));
        let is_span = pages > 0 && first > 0 && first < limit && pages < limit.wrapping_sub(first);
        is_span.then_some(Self {
            at,
            first,
            pages,
            range: AddrRange::with_len(
                Addr::new(first.wrapping_shl(lg_page)),
                pages.wrapping_shl(lg_page),
            ),
            objects: Addr::new(word(4)),
            handed_out: bits & 0xffff,
            class: (bits >> 16) as u8,
            location: match bits >> 24 & 3 {
                0 => Location::InUse,
                1 => Location::Normal,
                _ => Location::Returned,
            },
            is_sampled: bits >> 26 & 1 == 1,
        })
    }

    /// How many blocks of a size it has.
    pub(super) fn blocks(&self, size: u64) -> u64 {
        self.range.len().checked_div(size).unwrap_or(0)
    }
}

/// The blocks of a span that it has not handed out.
#[derive(Debug)]
pub(super) struct Objects {
    /// A bit for each block.
    free: Vec<u64>,
    pub(super) count: u64,
    /// What the list leads to that is no block, or is in it already.
    pub(super) broken: Option<(Addr, bool)>,
}

impl Objects {
    /// Follows the list of a span of small blocks, up to what is wrong in it.
    pub(super) fn of(space: &dyn AddressSpace, span: &Span, size: u64) -> Self {
        let blocks = span.blocks(size);
        let words = usize::try_from(blocks.div_ceil(64)).unwrap_or(0);
        let mut objects = Self { free: vec![0; words], count: 0, broken: None };
        let mut next = span.objects;
        while next.get() != 0 {
            let index = index_of(span, size, next);
            let link = space.read_addr(next).ok();
            match index.zip(link) {
                Some((index, link)) if !objects.is_free(index) => {
                    objects.set(index);
                    next = link;
                }
                _ => {
                    objects.broken = Some((next, index.is_some()));
                    break;
                }
            }
        }
        objects
    }

    fn set(&mut self, index: u64) {
        if let Some(word) = self.free.get_mut(index as usize / 64) {
            *word |= 1_u64.wrapping_shl(index as u32 % 64);
            self.count = self.count.saturating_add(1);
        }
    }

    /// Whether a block has not been handed out.
    pub(super) fn is_free(&self, index: u64) -> bool {
        self.free
            .get(index as usize / 64)
            .is_some_and(|word| word.wrapping_shr(index as u32 % 64) & 1 == 1)
    }
}

/// The index of the block that begins at an address.
pub(super) fn index_of(span: &Span, size: u64, at: Addr) -> Option<u64> {
    let into = at.offset_from(span.range.start)?;
    let index = into.checked_div(size)?;
    (into.checked_rem(size) == Some(0) && index < span.blocks(size)).then_some(index)
}
