//! What a heap holds, in totals.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Tid;

/// How far totals are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Depth {
    /// By counters, bitmaps and lists: quick for a heap of any size. What only a walk tells is `None`.
    Lists,
    /// By a walk over all blocks, so that counters and lists can be held against it.
    Blocks,
}

/// Some blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Amount {
    /// How many; `None` where nobody counted them.
    pub blocks: Option<u64>,
    /// Bytes that they take, with headers and rounding.
    pub bytes: u64,
}

impl Amount {
    /// So many blocks that take so many bytes.
    pub const fn new(blocks: u64, bytes: u64) -> Self {
        Self { blocks: Some(blocks), bytes }
    }

    /// Both together; the number of blocks is known if both are.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let blocks = self.blocks.zip(other.blocks).map(|(one, two)| one.saturating_add(two));
        Self { blocks, bytes: self.bytes.saturating_add(other.bytes) }
    }
}

/// A part of a heap with lists and a lock of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArenaUsage {
    /// Where its structure lies, where that is known.
    pub at: Option<Addr>,
    /// What the allocator calls it: `main`, `1`.
    pub name: Arc<str>,
    /// The threads that allocate from it, where that is known.
    pub threads: Vec<Tid>,
    /// Bytes that it had from the system and has not given back.
    pub mapped: u64,
    /// What the program has; blocks that only mappings of their own hold are not among them.
    pub used: Amount,
    /// What caches keep.
    pub cached: Amount,
    /// What is free.
    pub free: Amount,
    /// The allocator's own blocks.
    pub internal: Amount,
    /// Whether somebody holds its lock, so that its lists may be half changed; `None` where that is not known.
    pub locked: Option<bool>,
}

/// A cache of free blocks that a thread or a processor has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheUsage {
    /// Where it lies.
    pub at: Addr,
    /// Its thread, where that is known.
    pub thread: Option<Tid>,
    /// What it keeps.
    pub cached: Amount,
}

/// Two figures that must be equal. They prove that a layout was read right, or that something is torn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Equality {
    /// What the first is, for people: `free chunks in bins`.
    pub one: Arc<str>,
    /// What the second is: `chunks marked free`.
    pub other: Arc<str>,
    /// The first.
    pub one_value: u64,
    /// The second.
    pub other_value: u64,
    /// The first address that contradicts it, where one can be named.
    pub at: Option<Addr>,
}

impl Equality {
    /// Of two figures.
    pub fn new(one: &str, one_value: u64, other: &str, other_value: u64) -> Self {
        Self { one: one.into(), other: other.into(), one_value, other_value, at: None }
    }

    /// Whether it holds.
    pub const fn holds(&self) -> bool {
        self.one_value == self.other_value
    }
}

/// A figure in the allocator's own words, which logs and its own functions give: `mallinfo2.uordblks`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnFigure {
    /// Its name in the allocator's words.
    pub name: Arc<str>,
    /// Its value.
    pub value: u64,
}

/// What a heap holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Its arenas; [`Block::arena`](crate::Block::arena) is an index of them.
    pub arenas: Vec<ArenaUsage>,
    /// The caches of threads and processors that hold something.
    pub caches: Vec<CacheUsage>,
    /// What the program has, in arenas and elsewhere.
    pub used: Amount,
    /// What caches keep.
    pub cached: Amount,
    /// What is free, and still the allocator's.
    pub free: Amount,
    /// The allocator's own blocks in the heap.
    pub internal: Amount,
    /// Of the used ones, those that have a mapping of their own.
    pub apart: Amount,
    /// Bytes that the allocator had from the system and has not given back. Used, cached, free, internal and metadata
    /// together come to no more.
    pub mapped: u64,
    /// Bytes of the allocator's structures outside of blocks.
    pub metadata: u64,
    /// What was held against what.
    pub equalities: Vec<Equality>,
    /// The same in the allocator's own words.
    pub own: Vec<OwnFigure>,
    /// What is missing in the totals and why, for people.
    pub notes: Vec<String>,
}
