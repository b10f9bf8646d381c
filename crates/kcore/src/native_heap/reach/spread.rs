//! What is reached from some blocks.
//!
//! A block is reached, and later its words are looked at. What is between the two is marked, and need not be listed: each
//! thread keeps a short list of its own, and what has no room in it is found by the marks. So the lists take no more
//! memory when blocks are many, and all threads have work when one block leads to all others.

use std::ops::Range;

use kcore_mem::{AddrRange, AddressSpace};
use kcore_parallel::prelude::*;

use super::{BlockTable, Marks, Scanner, TableBlock, WORD, numbers_in, pieces};
use crate::native_heap::Watch;

/// Blocks that a thread lists.
const LISTED: usize = 1 << 12;
/// Blocks that a thread looks at before others may ask for it.
const MAX_STEPS: u32 = 1 << 16;
/// Words of marks that one thread looks at.
const JOB: u32 = 1 << 10;
/// Jobs between two looks at whoever watches.
const JOBS: u32 = 64;
/// Bytes of a block that several threads look at together.
const LARGE: u64 = 1 << 22;

/// A search in a table.
pub struct Spread<'t> {
    space: &'t dyn AddressSpace,
    table: &'t BlockTable,
    /// The blocks that are reached.
    pub reached: Marks,
    /// Those whose words were looked at.
    searched: Marks,
    large: Vec<TableBlock>,
}

impl<'t> Spread<'t> {
    /// Nothing is reached yet.
    pub fn new(space: &'t dyn AddressSpace, table: &'t BlockTable) -> Self {
        let is_large = |number: &u32| table.size(*number) >= LARGE;
        let large = (0..table.count()).filter(is_large).filter_map(|number| table.block(number));
        let (reached, searched) = (Marks::new(table.count()), Marks::new(table.count()));
        Self { large: large.collect(), space, table, reached, searched }
    }

    /// Marks the blocks that words of some ranges lead to. `None` when whoever watches stopped it.
    pub fn mark_targets(
        &self,
        ranges: impl IntoIterator<Item = AddrRange>,
        watch: Watch<'_>,
    ) -> Option<()> {
        let pieces: Vec<AddrRange> = ranges.into_iter().flat_map(pieces).collect();
        for step in pieces.chunks(JOBS as usize) {
            step.par_iter().for_each(|piece| {
                Scanner::new(self.space, self.table).each_target(*piece, &mut |_, block| {
                    self.reached.set(block.number);
                });
            });
            if watch(0, 0).is_break() {
                return None;
            }
        }
        Some(())
    }

    /// Marks what the blocks that are reached lead to, and what those lead to. `None` when whoever watches stopped it.
    pub fn spread(&self, watch: Watch<'_>) -> Option<()> {
        let words = self.reached.words();
        loop {
            let mut is_done = self.search_large(watch)?;
            for from in (0..words).step_by((JOB * JOBS) as usize) {
                let jobs: Vec<Range<u32>> = (0..JOBS)
                    .map(|job| from.saturating_add(job * JOB))
                    .take_while(|start| *start < words)
                    .map(|start| start..words.min(start.saturating_add(JOB)))
                    .collect();
                let searched = jobs.par_iter().map(|job| self.search(job.clone()));
                is_done &= searched.reduce(|| true, |one, other| one && other);
                if watch(from.into(), words.into()).is_break() {
                    return None;
                }
            }
            if is_done {
                return Some(());
            }
        }
    }

    /// Looks at the large blocks that are reached; says whether there was none that had not been looked at.
    fn search_large(&self, watch: Watch<'_>) -> Option<bool> {
        let mut had_none = true;
        for block in &self.large {
            if self.reached.has(block.number) && self.searched.set(block.number) {
                had_none = false;
                self.mark_targets([self.table.range(*block)], watch)?;
            }
        }
        Some(had_none)
    }

    /// The blocks among those of a word of marks that are reached and were not looked at.
    fn open_in(&self, index: u32) -> u64 {
        self.reached.word(index) & !self.searched.word(index)
    }

    /// Looks at the blocks of some words of marks, and at what they lead to; says whether there was none.
    fn search(&self, words: Range<u32>) -> bool {
        let mut scanner = Scanner::new(self.space, self.table);
        let mut listed: Vec<TableBlock> = Vec::new();
        let (mut steps, mut had_none) = (0_u32, true);
        for index in words {
            for number in numbers_in(index, self.open_in(index)) {
                listed.extend(self.table.block(number));
                while let Some(block) = listed.pop() {
                    if self.table.size(block.number) >= LARGE || !self.searched.set(block.number) {
                        continue;
                    }
                    had_none = false;
                    steps = steps.saturating_add(1);
                    self.search_block(&mut scanner, block, &mut listed);
                    if steps > MAX_STEPS {
                        return false;
                    }
                }
            }
        }
        had_none
    }

    fn search_block(
        &self,
        scanner: &mut Scanner<'_>,
        block: TableBlock,
        listed: &mut Vec<TableBlock>,
    ) {
        scanner.each_target(self.table.range(block), &mut |_, to| {
            if self.reached.set(to.number) && listed.len() < LISTED {
                listed.push(to);
            }
        });
    }

    /// Marks what a block leads to that was not reached, and tells of each, itself first. All that was reached before must
    /// have been looked at.
    pub fn spread_from(&self, first: TableBlock, tell: &mut dyn FnMut(TableBlock)) {
        const LISTED: usize = 1 << 20;
        let mut scanner = Scanner::new(self.space, self.table);
        let mut is_full = false;
        self.reached.set(first.number);
        let mut listed = vec![first];
        loop {
            while let Some(block) = listed.pop() {
                if !self.searched.set(block.number) {
                    continue;
                }
                tell(block);
                scanner.each_target(self.table.range(block), &mut |_, to| {
                    if self.reached.set(to.number) {
                        if listed.len() < LISTED {
                            listed.push(to);
                        } else {
                            is_full = true;
                        }
                    }
                });
            }
            if !std::mem::take(&mut is_full) {
                return;
            }
            let words = 0..self.reached.words();
            let open = words.flat_map(|index| numbers_in(index, self.open_in(index)));
            listed.extend(open.filter_map(|number| self.table.block(number)).take(LISTED));
            is_full = listed.len() >= LISTED;
        }
    }

    /// Tells the numbers of blocks that are not reached, and of which `marks` has none, lowest first.
    pub fn unreached<'a>(&'a self, marks: Option<&'a Marks>) -> impl Iterator<Item = u32> + 'a {
        let count = self.table.count();
        let open = move |index: u32| {
            let marked = marks.map_or(0, |marks| marks.word(index));
            let last = count.saturating_sub(index.saturating_mul(WORD));
            let there = if last < WORD { (1_u64 << last).wrapping_sub(1) } else { u64::MAX };
            there & !self.reached.word(index) & !marked
        };
        (0..self.reached.words()).flat_map(move |index| numbers_in(index, open(index)))
    }

    /// The blocks that blocks which are not reached lead to, other than themselves. `None` when whoever watches stopped it.
    pub fn referred(&self, watch: Watch<'_>) -> Option<Marks> {
        let marks = Marks::new(self.table.count());
        let words = self.reached.words();
        for from in (0..words).step_by((JOB * JOBS) as usize) {
            let end = words.min(from.saturating_add(JOB * JOBS));
            let numbers: Vec<u32> = (from..end)
                .flat_map(|index| numbers_in(index, !self.reached.word(index)))
                .take_while(|number| *number < self.table.count())
                .collect();
            numbers.par_chunks(JOB as usize).for_each(|numbers| {
                let mut scanner = Scanner::new(self.space, self.table);
                for block in numbers.iter().filter_map(|number| self.table.block(*number)) {
                    scanner.each_target(self.table.range(block), &mut |_, to| {
                        if to.number != block.number {
                            marks.set(to.number);
                        }
                    });
                }
            });
            if watch(from.into(), words.into()).is_break() {
                return None;
            }
        }
        Some(marks)
    }
}
