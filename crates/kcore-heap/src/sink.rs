//! Where a walk puts its blocks.

use std::{fmt, ops::ControlFlow};

use kcore_mem::AddrRange;

use crate::{Block, BlockStates};

/// Blocks that are handed on at once.
const BATCH: usize = 512;
/// Blocks that a walk passes between two looks at whoever watches.
const STEP: u64 = 1 << 16;
/// Ranges that were not walked and are kept apart.
const MAX_SKIPPED: usize = 1 << 12;

/// Called now and then during long work, with how many bytes of the heap are done and how many there are in all; 0 where
/// that is not known. It may stop the work.
pub type Watch<'w> = &'w mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// Which blocks are wanted. A heap may skip what cannot be wanted; the sink leaves out the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockFilter {
    /// In these states.
    pub states: BlockStates,
    /// With an address within this range.
    pub within: AddrRange,
    /// Of this arena; `None` for all, and for blocks that no arena has.
    pub arena: Option<u32>,
}

impl BlockFilter {
    /// All blocks.
    pub const ALL: Self = Self {
        states: BlockStates::ALL,
        within: AddrRange { start: kcore_mem::Addr::new(0), end: kcore_mem::Addr::new(u64::MAX) },
        arena: None,
    };

    /// All blocks in some states.
    pub const fn of_states(states: BlockStates) -> Self {
        Self { states, ..Self::ALL }
    }

    /// Whether a block is wanted.
    pub fn wants(&self, block: &Block) -> bool {
        self.states.has(block.state)
            && block.whole.start < self.within.end
            && self.within.start < block.whole.end
            && self.arena.is_none_or(|arena| block.arena == Some(arena))
    }
}

/// Takes the blocks of a walk, leaves out those that are not wanted, and hands the rest on in batches.
pub struct BlockSink<'a> {
    filter: BlockFilter,
    batch: Vec<Block>,
    /// Blocks that were told of since whoever watches was asked.
    passed: u64,
    done: u64,
    total: u64,
    notes: Vec<String>,
    skipped: Vec<AddrRange>,
    watch: Watch<'a>,
    tell: &'a mut dyn FnMut(&[Block]) -> ControlFlow<()>,
}

impl<'a> BlockSink<'a> {
    /// A sink that hands wanted blocks to `tell`, which may break to end the walk, and asks `watch` now and then.
    pub fn new(
        filter: BlockFilter,
        watch: Watch<'a>,
        tell: &'a mut dyn FnMut(&[Block]) -> ControlFlow<()>,
    ) -> Self {
        let (passed, done, total) = (0, 0, 0);
        Self {
            filter,
            batch: Vec::with_capacity(BATCH),
            passed,
            done,
            total,
            notes: Vec::new(),
            skipped: Vec::new(),
            watch,
            tell,
        }
    }

    /// What is wanted.
    pub const fn filter(&self) -> &BlockFilter {
        &self.filter
    }

    /// Says how many bytes the walk will pass in all, for whoever watches.
    pub const fn expect(&mut self, total: u64) {
        self.total = total;
    }

    /// Takes a block.
    #[inline]
    pub fn push(&mut self, block: &Block) -> ControlFlow<()> {
        self.passed = self.passed.saturating_add(1);
        self.done = self.done.saturating_add(block.whole.len());
        if self.filter.wants(block) {
            self.batch.push(*block);
        }
        if self.batch.len() >= BATCH || self.passed >= STEP {
            return self.flush();
        }
        ControlFlow::Continue(())
    }

    /// Passes over memory without blocks, and asks whoever watches: for walks that find none for long.
    pub fn pass(&mut self, bytes: u64) -> ControlFlow<()> {
        self.done = self.done.saturating_add(bytes);
        self.passed = 0;
        (self.watch)(self.done, self.total)
    }

    /// Says what part of the heap could not be walked, and why: `arena 2: ...`. No more than 64 are kept.
    pub fn note(&mut self, note: String) {
        if self.notes.len() < 64 {
            self.notes.push(note);
        }
    }

    /// Says which memory of the heap was not walked: its words may still point to blocks. Of very many ranges, the last
    /// ones are joined.
    pub fn skip(&mut self, range: AddrRange) {
        let is_full = self.skipped.len() >= MAX_SKIPPED;
        match self.skipped.last_mut().filter(|_| is_full) {
            Some(last) => {
                *last = AddrRange::new(last.start.min(range.start), last.end.max(range.end));
            }
            None => self.skipped.push(range),
        }
    }

    /// The memory that was not walked.
    pub fn skipped(&self) -> &[AddrRange] {
        &self.skipped
    }

    /// What could not be walked.
    pub fn into_notes(self) -> Vec<String> {
        self.notes
    }

    /// Hands on what is left. Whoever made the sink calls it after the walk.
    pub fn flush(&mut self) -> ControlFlow<()> {
        if self.passed >= STEP {
            self.passed = 0;
            (self.watch)(self.done, self.total)?;
        }
        if self.batch.is_empty() {
            return ControlFlow::Continue(());
        }
        let told = (self.tell)(&self.batch);
        self.batch.clear();
        told
    }
}

impl fmt::Debug for BlockSink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockSink").field("filter", &self.filter).finish_non_exhaustive()
    }
}
