//! Who keeps how much: what would be freed with a block, or with a variable.
//!
//! Blocks and roots are the nodes of one graph, and any word that holds an address within a block is an edge. What a node
//! retains is what cannot be reached without it: itself, and all that it dominates.

mod keepers;

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};
use kcore_parallel::prelude::*;
use kcore_runtimes::{
    graph::{Edges, Retained},
    objects::Stopped,
};

use super::{
    HeapView, Watch,
    reach::{BlockTable, Scanner, TableBlock},
};
use crate::{Core, Tid};
use keepers::Keepers;

/// Blocks that one thread looks at, and those between two looks at whoever watches.
const JOB: usize = 1 << 12;
const STEP: usize = 1 << 17;

/// What keeps blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Keeper {
    /// A block in use, which begins here.
    Block(Addr),
    /// The variable that begins here.
    Variable(Addr),
    /// Data of a module that has no symbol: the module is at this address.
    Data(Addr),
    /// The stack of a thread, its registers, and its thread-local data if that lies beside the stack.
    Thread(Tid),
    /// Other memory in no heap: the mapping begins here.
    Memory(Addr),
}

/// What something retains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RetainedSize {
    /// What retains it.
    pub keeper: Keeper,
    /// Usable bytes of its own; 0 of what is no block.
    pub own: u64,
    /// Usable bytes that would be freed with it, its own included.
    pub bytes: u64,
    /// Blocks that would be, itself included.
    pub blocks: u64,
}

/// Why it is not known what is retained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RetainedError {
    /// Whoever watches stopped it.
    Stopped,
    /// There are more pointers than have numbers: 2³².
    TooMany,
}

/// What all blocks in use, and all roots, retain.
pub struct RetainedBlocks {
    table: BlockTable,
    /// The roots: their nodes have the numbers behind those of the blocks.
    keepers: Vec<Keeper>,
    retained: Retained,
    notes: Vec<String>,
}

impl HeapView<'_> {
    /// What blocks and roots retain. It is found out once. While that is done, it takes about 60 bytes for each block and
    /// eight for each pointer; then, 26 bytes for each block.
    ///
    /// # Errors
    /// When whoever watches stopped it, and when there is too much.
    pub fn retained(&self, watch: Watch<'_>) -> Result<Arc<RetainedBlocks>, RetainedError> {
        let known = &self.core.native_heaps.retained;
        if let Some(retained) = known.get() {
            return Ok(Arc::clone(retained));
        }
        let retained = Arc::new(self.find_retained(watch)?);
        match self.core.budget().is_halted() {
            true => Ok(retained),
            false => Ok(Arc::clone(known.get_or_init(|| retained))),
        }
    }

    fn find_retained(&self, watch: Watch<'_>) -> Result<RetainedBlocks, RetainedError> {
        let (table, notes) = self.table(watch).ok_or(RetainedError::Stopped)?;
        let mut edges = self.edges(&table, watch)?;
        let keepers = Keepers::of(*self, &table, watch).ok_or(RetainedError::Stopped)?;
        let (keepers, lists): (Vec<Keeper>, Vec<Vec<u32>>) = keepers.into_lists().unzip();
        for list in &lists {
            let count = u32::try_from(list.len()).unwrap_or(u32::MAX);
            if !edges.add(&[count], list) {
                return Err(RetainedError::TooMany);
            }
        }
        let first = table.count();
        let roots: Vec<u32> = (first..).take(keepers.len()).collect();
        let own = |node| table.size(node);
        let retained = Retained::of_nodes(&edges, &roots, &own, watch);
        let retained = retained.map_err(|Stopped| RetainedError::Stopped)?;
        Ok(RetainedBlocks { table, keepers, retained, notes })
    }

    /// What blocks lead to.
    fn edges(&self, table: &BlockTable, watch: Watch<'_>) -> Result<Edges, RetainedError> {
        let numbers: Vec<u32> = (0..table.count()).step_by(JOB).collect();
        let mut edges = Edges::new();
        for step in numbers.chunks(STEP / JOB) {
            let jobs = step.par_iter().map(|first| self.edges_of(table, *first));
            let parts: Vec<(Vec<u32>, Vec<u32>)> = jobs.collect();
            if !parts.iter().all(|(counts, targets)| edges.add(counts, targets)) {
                return Err(RetainedError::TooMany);
            }
            let done = step.last().copied().unwrap_or(0);
            if watch(done.into(), table.count().into()).is_break() {
                return Err(RetainedError::Stopped);
            }
        }
        Ok(edges)
    }

    /// How many others each of some blocks leads to, and which. One that is named twice in a row counts once.
    fn edges_of(&self, table: &BlockTable, first: u32) -> (Vec<u32>, Vec<u32>) {
        let (mut counts, mut targets) = (Vec::with_capacity(JOB), Vec::new());
        let mut scanner = Scanner::new(self.core.space(), table);
        let blocks = (first..table.count()).take(JOB).filter_map(|number| table.block(number));
        for block in blocks {
            let (before, mut last) = (targets.len(), block.number);
            scanner.each_target(table.range(block), &mut |_, to: TableBlock| {
                if to.number != block.number && to.number != last {
                    targets.push(to.number);
                    last = to.number;
                }
            });
            let count = targets.len().saturating_sub(before);
            counts.push(u32::try_from(count).unwrap_or(u32::MAX));
        }
        (counts, targets)
    }
}

impl RetainedBlocks {
    /// What no block and no root alone keeps, the roots among it: those that retain blocks, the most bytes first.
    pub fn top(&self) -> Vec<RetainedSize> {
        self.sorted(self.retained.kept_by(None))
    }

    /// What the block in use that holds `at` retains; `None` where nothing leads to it.
    pub fn at(&self, at: Addr) -> Option<RetainedSize> {
        let node = self.table.find(at.get())?.number;
        let above = self.retained.keeper_of(node);
        let siblings = self.retained.kept_by(above);
        let count = siblings.into_iter().find(|(sibling, _)| *sibling == node)?.1;
        self.size(node, count)
    }

    /// What the block in use that holds `at` keeps alone, each with what it retains, the most bytes first.
    pub fn kept_by(&self, at: Addr) -> Vec<RetainedSize> {
        let node = self.table.find(at.get()).map(|block| block.number);
        node.map_or_else(Vec::new, |node| self.sorted(self.retained.kept_by(Some(node))))
    }

    /// What alone keeps the block in use that holds `at`, the nearest; `None` where several roots lead to it.
    pub fn keeper_of(&self, at: Addr) -> Option<Keeper> {
        let node = self.table.find(at.get())?.number;
        self.keeper(self.retained.keeper_of(node)?)
    }

    /// Blocks in use, and those among them to which nothing leads.
    pub fn counts(&self) -> (u64, u64) {
        let reached = self.retained.reachable_count().saturating_sub(self.keepers.len());
        let all = u64::from(self.table.count());
        (all, all.saturating_sub(reached as u64))
    }

    /// What may be wrong or incomplete.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn sorted(&self, nodes: Vec<(u32, u64)>) -> Vec<RetainedSize> {
        let sizes = nodes.into_iter().filter_map(|(node, count)| self.size(node, count));
        let mut sizes: Vec<RetainedSize> = sizes.filter(|size| size.blocks > 0).collect();
        sizes.sort_unstable_by(|one, next| {
            next.bytes.cmp(&one.bytes).then(one.keeper.cmp(&next.keeper))
        });
        sizes
    }

    fn size(&self, node: u32, count: u64) -> Option<RetainedSize> {
        let keeper = self.keeper(node)?;
        let is_block = matches!(keeper, Keeper::Block(_));
        Some(RetainedSize {
            keeper,
            own: self.table.size(node),
            bytes: self.retained.bytes(node)?,
            blocks: if is_block { count } else { count.saturating_sub(1) },
        })
    }

    fn keeper(&self, node: u32) -> Option<Keeper> {
        match node.checked_sub(self.table.count()) {
            Some(index) => self.keepers.get(index as usize).copied(),
            None => self.table.block(node).map(|block| Keeper::Block(block.start)),
        }
    }
}

impl std::fmt::Debug for RetainedBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (blocks, roots) = (self.table.count(), self.keepers.len());
        let mut shown = f.debug_struct("RetainedBlocks");
        shown.field("blocks", &blocks).field("roots", &roots).finish_non_exhaustive()
    }
}

/// Whether a range holds an address, of several in order.
fn holder_of<T: Copy>(ranges: &[(AddrRange, T)], at: Addr) -> Option<(AddrRange, T)> {
    let index = ranges.partition_point(|(range, _)| range.start <= at).checked_sub(1)?;
    ranges.get(index).copied().filter(|(range, _)| range.contains(at))
}

impl Core {
    /// The part of each stack that is in use, with its thread, lowest first.
    fn used_stacks(&self) -> Vec<(AddrRange, Tid)> {
        let tids = self.tids().into_iter();
        let mut ranges: Vec<_> =
            tids.filter_map(|tid| Some((self.stacks().range_of_thread(tid)?, tid))).collect();
        ranges.sort_unstable_by_key(|(range, _)| range.start);
        ranges
    }
}
