//! The roots of native heaps by what they belong to, and the blocks to which each leads.

use kcore_heap::HeapHost;
use kcore_mem::{Addr, AddrRange};
use kcore_parallel::prelude::*;
use rustc_hash::FxHashMap;

use super::{
    super::{
        HeapView, Watch,
        reach::{BlockTable, Scanner, pieces},
    },
    Keeper, holder_of,
};
use crate::{Core, Tid};

/// Pieces of roots between two looks at whoever watches.
const PIECES: usize = 64;

/// Roots under construction.
pub struct Keepers<'c> {
    core: &'c Core,
    stacks: Vec<(AddrRange, Tid)>,
    /// The variable or mapping of the word before.
    last: Option<(AddrRange, Keeper)>,
    found: FxHashMap<Keeper, Vec<u32>>,
}

impl<'c> Keepers<'c> {
    /// All roots that lead to blocks of a table; `None` when whoever watches stopped it.
    pub fn of(view: HeapView<'c>, table: &BlockTable, watch: Watch<'_>) -> Option<Self> {
        let core = view.core;
        let mut keepers =
            Self { core, stacks: core.used_stacks(), last: None, found: FxHashMap::default() };
        for tid in core.tids() {
            let values = core.registers().user(tid).into_iter().map(|register| register.value);
            for block in values.filter_map(|value| table.find(value)) {
                keepers.add(Keeper::Thread(tid), block.number);
            }
        }
        let pieces: Vec<AddrRange> = view.root_ranges().into_iter().flat_map(pieces).collect();
        for step in pieces.chunks(PIECES) {
            let of_piece = |piece: &AddrRange| {
                let mut words: Vec<(u64, u32)> = Vec::new();
                Scanner::new(core.space(), table)
                    .each_target(*piece, &mut |word, block| words.push((word, block.number)));
                words
            };
            let parts: Vec<Vec<(u64, u32)>> = step.par_iter().map(of_piece).collect();
            for (word, block) in parts.into_iter().flatten() {
                let keeper = keepers.keeper_of(Addr::new(word));
                keepers.add(keeper, block);
            }
            if watch(0, 0).is_break() {
                return None;
            }
        }
        Some(keepers)
    }

    /// Each root with the numbers of the blocks that it leads to, each once; in the order of the roots.
    pub fn into_lists(self) -> impl Iterator<Item = (Keeper, Vec<u32>)> {
        let mut lists: Vec<(Keeper, Vec<u32>)> = self.found.into_iter().collect();
        lists.sort_unstable_by_key(|(keeper, _)| *keeper);
        lists.into_iter().map(|(keeper, mut list)| {
            list.sort_unstable();
            list.dedup();
            (keeper, list)
        })
    }

    fn add(&mut self, keeper: Keeper, block: u32) {
        let list = self.found.entry(keeper).or_default();
        if list.last() != Some(&block) {
            list.push(block);
        }
    }

    fn keeper_of(&mut self, at: Addr) -> Keeper {
        if let Some((_, keeper)) = self.last.filter(|(range, _)| range.contains(at)) {
            return keeper;
        }
        let (range, keeper) = self.look_up(at);
        self.last = Some((range, keeper));
        keeper
    }

    /// What a word belongs to, and from where to where that does.
    fn look_up(&self, at: Addr) -> (AddrRange, Keeper) {
        if let Some((range, tid)) = holder_of(&self.stacks, at) {
            return (range, Keeper::Thread(tid));
        }
        let word = AddrRange::with_len(at, 1);
        if let Some(module) = self.core.modules().at(at) {
            let symbol = self.core.symbols().at(at).filter(|it| it.sized && it.offset < it.size);
            return symbol.map_or((word, Keeper::Data(module.span().start)), |symbol| {
                let range = AddrRange::with_len(symbol.start, symbol.size);
                (range, Keeper::Variable(symbol.start))
            });
        }
        match self.core.mapping_at(at).map(|mapping| mapping.range) {
            Some(range) => (range, self.of_mapping(range)),
            None => (word, Keeper::Memory(at)),
        }
    }

    /// Memory that has the thread-local data of one thread is that thread's.
    fn of_mapping(&self, range: AddrRange) -> Keeper {
        let is_own = |tid: &Tid| {
            self.core.thread_pointer(*tid).is_some_and(|pointer| range.contains(pointer))
        };
        let mut owners = self.core.tids().into_iter().filter(is_own);
        match (owners.next(), owners.next()) {
            (Some(tid), None) => Keeper::Thread(tid),
            _ => Keeper::Memory(range.start),
        }
    }
}
