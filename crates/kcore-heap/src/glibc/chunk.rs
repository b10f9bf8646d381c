//! Chunks: what lies in a region, one behind the other.

use crate::words::Words;

/// `PREV_INUSE`: the chunk before is in use.
pub const PREV_IN_USE: u64 = 1;
/// `IS_MMAPPED`: the chunk has a mapping of its own.
pub const MMAPPED: u64 = 2;
/// The bits of a size that are none of the size.
pub const FLAGS: u64 = 7;
/// The size of the smallest chunk.
pub const MIN_SIZE: u64 = 32;
/// The size of a chunk that fences off the end of a region.
pub const FENCE: u64 = 16;
/// Bytes before what the program has.
pub const HEADER: u64 = 16;

/// A chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// Where it begins.
    pub at: u64,
    /// Its size with its flags.
    pub word: u64,
    /// Whether the chunk behind it says that it is in use. Chunks in thread caches and fast bins are.
    pub in_use: bool,
}

impl Chunk {
    /// Its size in bytes.
    pub const fn size(&self) -> u64 {
        self.word & !FLAGS
    }

    /// The first address behind it.
    pub const fn end(&self) -> u64 {
        self.at.wrapping_add(self.size())
    }
}

/// A run of chunks that ends at `top`, or at a fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Its first chunk.
    pub start: u64,
    /// Where `top` lies, or the first address behind the region.
    pub end: u64,
    /// Whether it ends with `top`.
    pub has_top: bool,
    /// The index of its arena.
    pub arena: u32,
}

/// Why a chain of chunks ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChainEnd {
    /// At the end of its region.
    Done,
    /// At a fence before it: other memory follows, or nothing.
    Fence(u64),
    /// At a chunk whose size is impossible: where it lies, and its size.
    Torn(u64, u64),
    /// At memory that is not there.
    Missing(u64),
}

/// Chunks of a region, one behind the other.
pub struct Chain<'s> {
    words: Words<'s>,
    at: u64,
    word: u64,
    end: u64,
    has_top: bool,
    ended: Option<ChainEnd>,
}

impl<'s> Chain<'s> {
    /// From a chunk of a region on.
    pub fn new(mut words: Words<'s>, at: u64, region: &Region) -> Self {
        let word = words.word(at.wrapping_add(8));
        let mut chain = Self {
            words,
            at,
            word: word.unwrap_or(0),
            end: region.end,
            has_top: region.has_top,
            ended: word.is_none().then_some(ChainEnd::Missing(at)),
        };
        chain.arrive();
        chain
    }

    /// Why it ended; `None` while it goes on.
    pub const fn ended(&self) -> Option<ChainEnd> {
        self.ended
    }

    /// Looks whether the chain is at an end.
    #[inline]
    fn arrive(&mut self) {
        if self.ended.is_some() {
            return;
        }
        let size = self.word & !FLAGS;
        let left = self.end.wrapping_sub(self.at);
        if self.at == self.end {
            self.ended = Some(ChainEnd::Done);
        } else if size < MIN_SIZE
            || !size.is_multiple_of(16)
            || size > left
            || self.word & MMAPPED != 0
        {
            self.ended = Some(self.end_at(size, left));
        }
    }

    #[cold]
    fn end_at(&self, size: u64, left: u64) -> ChainEnd {
        // The last fence of a heap of an arena has no size.
        let is_last = size == 0 && left <= MIN_SIZE;
        if (size == FENCE || is_last) && !self.has_top {
            return ChainEnd::Fence(self.at);
        }
        if size == FENCE && self.has_top {
            return ChainEnd::Fence(self.at);
        }
        ChainEnd::Torn(self.at, self.word)
    }
}

impl Iterator for Chain<'_> {
    type Item = Chunk;

    #[inline]
    fn next(&mut self) -> Option<Chunk> {
        if self.ended.is_some() {
            return None;
        }
        let (at, word) = (self.at, self.word);
        let next = at.wrapping_add(word & !FLAGS);
        // A region that ends without a fence has nothing behind it that says whether its last chunk is in use.
        let Some(next_word) = self.words.word(next.wrapping_add(8)) else {
            self.ended = Some(ChainEnd::Missing(next));
            return None;
        };
        (self.at, self.word) = (next, next_word);
        self.arrive();
        let in_use = match self.ended {
            Some(ChainEnd::Torn(..)) => !self.is_in_bin(at),
            _ => next_word & PREV_IN_USE != 0,
        };
        Some(Chunk { at, word, in_use })
    }
}

impl Chain<'_> {
    /// Whether a chunk is in a bin: what it leads to leads back. Where the chunk behind it is torn, nothing else tells.
    #[cold]
    fn is_in_bin(&mut self, chunk: u64) -> bool {
        let next = self.words.word(chunk.wrapping_add(16));
        next.is_some_and(|next| self.words.word(next.wrapping_add(24)) == Some(chunk))
    }
}
