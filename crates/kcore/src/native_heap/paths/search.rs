//! The search for a shortest way: in breadth, all processors at the same time.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use kcore_mem::{Addr, AddrRange, AddressSpace};
use kcore_parallel::prelude::*;

use super::super::{
    Watch,
    reach::{BlockTable, Marks, Scanner, TableBlock, pieces},
};

/// No block: a root leads there.
const NONE: u32 = u32::MAX;
/// Blocks that one thread looks at; fewer are looked at by the calling one alone.
const JOB: usize = 1 << 8;
/// Blocks between two looks at whoever watches.
const STEP: usize = 1 << 15;
/// Pieces of roots between two looks.
const PIECES: usize = 64;

/// A search for one block. It may go on with more roots where those before lead nowhere.
pub struct Search<'t> {
    space: &'t dyn AddressSpace,
    table: &'t BlockTable,
    wanted: TableBlock,
    reached: Marks,
    /// By which block each was reached.
    from: Vec<AtomicU32>,
    /// Those reached that were not looked at.
    frontier: Vec<u32>,
}

impl<'t> Search<'t> {
    /// Nothing is reached yet.
    pub fn new(space: &'t dyn AddressSpace, table: &'t BlockTable, wanted: TableBlock) -> Self {
        let reached = Marks::new(table.count());
        let from = (0..table.count()).map(|_| AtomicU32::new(NONE)).collect();
        Self { space, table, wanted, reached, from, frontier: Vec::new() }
    }

    /// Adds blocks that roots lead to.
    pub fn add(&mut self, blocks: impl Iterator<Item = TableBlock>) {
        let (reached, frontier) = (&self.reached, &mut self.frontier);
        frontier.extend(blocks.map(|block| block.number).filter(|number| reached.set(*number)));
    }

    /// The blocks of a shortest way that begins in some ranges, or with what was added; `Some(None)` where there is none,
    /// and `None` when whoever watches stopped it.
    pub fn way_from(
        &mut self,
        ranges: &[AddrRange],
        watch: Watch<'_>,
    ) -> Option<Option<Vec<TableBlock>>> {
        let pieces: Vec<AddrRange> = ranges.iter().flat_map(|range| pieces(*range)).collect();
        for step in pieces.chunks(PIECES) {
            let parts: Vec<Vec<u32>> =
                step.par_iter().map(|piece| self.look(&[(NONE, *piece)])).collect();
            self.frontier.extend(parts.into_iter().flatten());
            if watch(0, 0).is_break() {
                return None;
            }
        }
        while !self.frontier.is_empty() && !self.reached.has(self.wanted.number) {
            self.next_level(watch)?;
        }
        Some(self.reached.has(self.wanted.number).then(|| self.way()))
    }

    fn next_level(&mut self, watch: Watch<'_>) -> Option<()> {
        let frontier = std::mem::take(&mut self.frontier);
        let mut next = Vec::new();
        for step in frontier.chunks(STEP) {
            if step.len() <= JOB {
                next.extend(self.look_at_blocks(step));
            } else {
                let jobs = step.par_chunks(JOB).map(|job| self.look_at_blocks(job));
                let parts: Vec<Vec<u32>> = jobs.collect();
                next.extend(parts.into_iter().flatten());
            }
            if watch(0, 0).is_break() {
                return None;
            }
        }
        self.frontier = next;
        Some(())
    }

    fn look_at_blocks(&self, numbers: &[u32]) -> Vec<u32> {
        let range = |number: &u32| {
            let block = self.table.block(*number)?;
            Some((*number, self.table.range(block)))
        };
        self.look(&numbers.iter().filter_map(range).collect::<Vec<_>>())
    }

    /// The blocks that some ranges lead to and that were not reached.
    fn look(&self, ranges: &[(u32, AddrRange)]) -> Vec<u32> {
        let mut scanner = Scanner::new(self.space, self.table);
        let mut found = Vec::new();
        for (by, range) in ranges {
            scanner.each_target(*range, &mut |_, to| {
                if self.reached.set(to.number) {
                    if let Some(from) = self.from.get(to.number as usize) {
                        from.store(*by, Relaxed);
                    }
                    found.push(to.number);
                }
            });
        }
        found
    }

    fn way(&self) -> Vec<TableBlock> {
        let before = |number: &u32| self.from.get(*number as usize).map(|from| from.load(Relaxed));
        let numbers = std::iter::successors(Some(self.wanted.number), before);
        // No way has more blocks than there are.
        let most = self.table.count() as usize;
        let numbers = numbers.take_while(|number| *number != NONE).take(most);
        let mut way: Vec<TableBlock> =
            numbers.filter_map(|number| self.table.block(number)).collect();
        way.reverse();
        way
    }
}

/// The first word of some ranges that points to a block. Whoever watches may end it.
pub fn first_word(
    space: &dyn AddressSpace,
    table: &BlockTable,
    ranges: &[AddrRange],
    block: TableBlock,
    watch: Watch<'_>,
) -> Option<Addr> {
    let pieces: Vec<AddrRange> = ranges.iter().flat_map(|range| pieces(*range)).collect();
    for step in pieces.chunks(PIECES) {
        let of_piece = |piece: &AddrRange| {
            let mut first = None;
            Scanner::new(space, table).each_target(*piece, &mut |at, to| {
                if to.number == block.number && first.is_none() {
                    first = Some(Addr::new(at));
                }
            });
            first
        };
        let found: Vec<Option<Addr>> = step.par_iter().map(of_piece).collect();
        if let Some(first) = found.into_iter().flatten().next() {
            return Some(first);
        }
        if watch(0, 0).is_break() {
            return None;
        }
    }
    None
}
