//! The depot of stacks: each has a number, under which headers of blocks name it.
//!
//! `sanitizer_stackdepot.cpp` of GCC 12 keeps the stack of a number behind a pointer; that of LLVM 14 to 19 keeps its place in
//! `sanitizer_stack_store.h`. Both have maps of two levels, and before each stack a word with its length. No symbol is needed:
//! numbers that headers name must lead to stacks in code of modules.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, CodeAddr};

use crate::{
    HeapHost,
    module_words::{each_word, is_anonymous},
    words::Words,
};

const PAGE: u64 = 4096;
/// Numbers of a leaf of a map (`kNodesSize2`), and leaves of it.
const LEAF_SHIFT: u32 = 16;
const MAX_LEAVES: u64 = 1 << 15;
/// Bytes of a `StackDepotNode` of LLVM, and the offset of its place in the store.
const NODE: u64 = 16;
const PLACE: u64 = 12;
/// Words of a block of the store (`kBlockSizeFrames`), and bytes of what describes one.
const BLOCK_SHIFT: u32 = 20;
const BLOCK: u64 = 16;
const MAX_BLOCKS: u64 = 1 << 12;
/// Frames of a stack, at most (`kStackTraceMax`).
const MAX_FRAMES: u64 = 256;
/// The kinds of stacks end here (`StackTrace::TAG_CUSTOM`).
const MAX_TAG: u64 = 128;
/// Words that may be the first of a map or of the store, at most.
const MAX_CANDIDATES: usize = 1 << 12;
const MAX_STORES: usize = 64;

/// How a number leads to a stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StackIdEncoding {
    /// By a map of pointers.
    Pointers,
    /// By a map of nodes and the blocks of the store, which are described from here on.
    Store(u64),
}

/// The depot of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Depot {
    /// Where the pointers to the leaves of the map are.
    map: u64,
    way: StackIdEncoding,
}

impl Depot {
    /// The one among data that leads from nearly all of some numbers to stacks: a header that is torn may have named one.
    pub(super) fn find(host: &dyn HeapHost, data: &[AddrRange], probes: &[u32]) -> Option<Self> {
        let mut words = Words::new(host.space());
        let probes: Vec<u32> = probes.iter().copied().filter(|it| *it < 1 << LEAF_SHIFT).collect();
        if probes.is_empty() {
            return None;
        }
        let code: Vec<AddrRange> = host.modules().iter().map(|module| module.span()).collect();
        let candidates = candidates(host, data);
        let is_stack = |words: &mut Words<'_>, at: u64| {
            let stack = read(words, at);
            stack.is_some_and(|stack| stack.iter().any(|pc| is_code(&code, *pc)))
        };
        let is_store = |(_, leaf): &&(u64, u64)| is_stack(&mut Words::new(host.space()), *leaf);
        let stores = candidates.iter().filter(is_store).take(MAX_STORES);
        let stores = stores.map(|(at, _)| StackIdEncoding::Store(*at));
        let ways: Vec<StackIdEncoding> =
            [StackIdEncoding::Pointers].into_iter().chain(stores).collect();
        let all = ways
            .iter()
            .flat_map(|way| candidates.iter().map(|(map, _)| Self { map: *map, way: *way }));
        let mut all = all.into_iter();
        all.find(|depot| {
            let mut leads =
                |id: &u32| depot.place(&mut words, *id).is_some_and(|at| is_stack(&mut words, at));
            let right = probes.iter().filter(|id| leads(id)).count();
            right.saturating_mul(4) >= probes.len().saturating_mul(3)
        })
    }

    /// The stack of a number, innermost first; `None` where there is none.
    pub(super) fn stack(&self, words: &mut Words<'_>, id: u32) -> Option<Vec<CodeAddr>> {
        let at = self.place(words, id)?;
        let stack = read(words, at)?;
        Some(stack.into_iter().map(|pc| CodeAddr::Return(Addr::new(pc))).collect())
    }

    /// Where the stack of a number is.
    fn place(&self, words: &mut Words<'_>, id: u32) -> Option<u64> {
        let leaf = u64::from(id >> LEAF_SHIFT);
        let within = u64::from(id & ((1 << LEAF_SHIFT) - 1));
        if leaf >= MAX_LEAVES {
            return None;
        }
        let leaf = words.word(self.map.checked_add(leaf << 3)?).filter(|leaf| *leaf != 0)?;
        let StackIdEncoding::Store(blocks) = self.way else {
            return words.word(leaf.checked_add(within << 3)?).filter(|at| *at != 0);
        };
        let node = leaf.checked_add(within.checked_mul(NODE)?)?;
        let place = u64::from(words.half(node.checked_add(PLACE)?)?).checked_sub(1)?;
        let block = place >> BLOCK_SHIFT;
        if block >= MAX_BLOCKS {
            return None;
        }
        let start = words.word(blocks.checked_add(block.checked_mul(BLOCK)?)?)?;
        let offset = (place & ((1 << BLOCK_SHIFT) - 1)) << 3;
        start.checked_add(offset).filter(|_| start != 0)
    }
}

/// Words of data that lead to whole pages of memory of no file.
fn candidates(host: &dyn HeapHost, data: &[AddrRange]) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for range in data {
        // It ends when there are enough.
        let _ = each_word(host.space(), *range, &mut |at, value| {
            if value.is_multiple_of(PAGE) && is_anonymous(host, Addr::new(value)) {
                found.push((at.get(), value));
            }
            match found.len() >= MAX_CANDIDATES {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
    }
    found
}

/// Whether an address lies in a module, all of which are given.
fn is_code(modules: &[AddrRange], at: u64) -> bool {
    modules.iter().any(|module| module.contains(Addr::new(at)))
}

/// The addresses behind a word that says how many they are.
fn read(words: &mut Words<'_>, at: u64) -> Option<Vec<u64>> {
    let head = words.word(at)?;
    let (count, tag) = (head & 0xffff, head >> 16);
    if count == 0 || count > MAX_FRAMES || tag >= MAX_TAG {
        return None;
    }
    let slots = (1..=count).map(|index| at.wrapping_add(index << 3));
    slots.map(|slot| words.word(slot).filter(|pc| *pc != 0)).collect()
}
