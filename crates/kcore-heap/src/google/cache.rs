//! Caches of blocks that spans have handed out and that the program does not have: of processors, of threads, and those
//! between them and the spans.

use kcore_mem::Addr;
use kcore_unwind::Tid;

use crate::ListId;

/// Blocks of all caches that are kept, at most.
pub(super) const MAX_BLOCKS: usize = 1 << 24;
/// Bits of a [`ListId`] that are the size class.
const CLASS_BITS: u32 = 9;

/// Whose a cache is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holder {
    /// The processor with this number.
    Processor(u32),
    /// A thread, where it is known.
    Thread(Option<Tid>),
    /// All threads: the transfer caches.
    Transfer,
}

/// A cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cache {
    pub(super) at: Addr,
    pub(super) holder: Holder,
    /// Bytes that it has, as it says itself; `None` where it does not.
    pub(super) said: Option<u64>,
}

/// A block in a cache.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct CachedBlock {
    pub(super) at: Addr,
    /// The index of the cache.
    pub(super) cache: u32,
    pub(super) class: u16,
}

impl CachedBlock {
    /// The list that it is in.
    pub(super) fn list(self) -> ListId {
        ListId(self.cache << CLASS_BITS | u32::from(self.class))
    }
}

/// The index of the cache and the size class of a list.
pub(super) const fn of_list(list: ListId) -> (usize, usize) {
    ((list.0 >> CLASS_BITS) as usize, (list.0 & ((1 << CLASS_BITS) - 1)) as usize)
}

/// All caches, and what they hold.
#[derive(Debug, Default)]
pub(super) struct Caches {
    pub(super) caches: Vec<Cache>,
    /// Lowest first, once all are there.
    pub(super) blocks: Vec<CachedBlock>,
}

impl Caches {
    /// Adds a cache, and returns its place in the list.
    pub(super) fn add(&mut self, at: Addr, holder: Holder, said: Option<u64>) -> u32 {
        self.caches.push(Cache { at, holder, said });
        u32::try_from(self.caches.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Adds a block of a cache; whether there was room for it.
    pub(super) fn push(&mut self, at: Addr, cache: u32, class: u16) -> bool {
        let has_room = self.blocks.len() < MAX_BLOCKS;
        if has_room {
            self.blocks.push(CachedBlock { at, cache, class });
        }
        has_room
    }

    /// Whose a block's cache is.
    pub(super) fn holder(&self, block: &CachedBlock) -> Option<Holder> {
        self.caches.get(block.cache as usize).map(|cache| cache.holder)
    }
}
