//! The descriptors of spans that are free: the map still leads to them (`MetadataObjectAllocator<Span>`).

use std::ops::ControlFlow;

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use super::map::Map;
use crate::module_words::{each_word, is_anonymous, word};
use crate::{HeapHost, HeapModule};

/// Members of an allocator of descriptors: the arena that it takes memory from, a lock, its free list, and how many
/// descriptors are in use and how many there are.
const LIST: u64 = 16;
const IN_USE: u64 = 24;
const TOTAL: u64 = 32;
/// Descriptors that are followed: each is for a span, so that this is enough for 128 GiB in the smallest ones.
const MAX_FREE: u64 = 1 << 24;
/// Allocators of descriptors that are tried, at most: there is one for spans, one for samples, one for caches of threads and
/// a few more.
const MAX_TRIED: usize = 64;

/// The descriptors of spans.
#[derive(Debug, Default)]
pub(super) struct Descriptors {
    /// Those that are in use, as their allocator counts them; `None` where it was not found.
    pub(super) in_use: Option<u64>,
    free: FxHashSet<Addr>,
}

/// An allocator of descriptors of some kind.
struct Allocator {
    list: Addr,
    in_use: u64,
    total: u64,
}

impl Descriptors {
    /// Those of a module: the allocator that counts as many in use as the map has spans, or else the one whose free
    /// list has most of what the map leads to.
    pub(super) fn find(host: &dyn HeapHost, module: &dyn HeapModule, map: &Map) -> Self {
        let space = host.space();
        let mut best: Option<(u64, Self)> = None;
        for allocator in allocators(host, module).into_iter().take(MAX_TRIED) {
            let Some(free) = free_list(host, &allocator) else { continue };
            let found = Self { in_use: Some(allocator.in_use), free };
            let count = map.count(space, &found);
            if count == allocator.in_use {
                return found;
            }
            // What is cut from a core, or torn, may hide a few spans.
            let off = count.abs_diff(allocator.in_use);
            if off < count / 8 && best.as_ref().is_none_or(|(best, _)| off < *best) {
                best = Some((off, found));
            }
        }
        best.map(|(_, found)| found).unwrap_or_default()
    }

    /// Whether no span has a descriptor.
    pub(super) fn is_free(&self, at: Addr) -> bool {
        self.free.contains(&at)
    }

    /// How many are free.
    pub(super) fn free_count(&self) -> u64 {
        self.free.len() as u64
    }
}

/// All that look like one: they lead to their arena, which lies in the data of the same module.
fn allocators(host: &dyn HeapHost, module: &dyn HeapModule) -> Vec<Allocator> {
    let space = host.space();
    let data = module.data();
    let mut found = Vec::new();
    for range in &data {
        let _ = each_word(space, *range, &mut |at, arena| {
            let arena = Addr::new(arena);
            if data.iter().any(|range| range.contains(arena)) {
                found.extend(allocator(host, at));
            }
            match found.len() < MAX_TRIED {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
    }
    found
}

fn allocator(host: &dyn HeapHost, at: Addr) -> Option<Allocator> {
    let member = |offset: u64| word(host.space(), at.saturating_add(offset));
    let (list, in_use, total) = (Addr::new(member(LIST)), member(IN_USE), member(TOTAL));
    let is_whole = total > 0 && total <= 1 << 32 && in_use <= total;
    let leads = match total.saturating_sub(in_use) {
        0 => list.get() == 0,
        _ => list.get().is_multiple_of(8) && is_anonymous(host, list),
    };
    (is_whole && leads).then_some(Allocator { list, in_use, total })
}

/// The free list, if it is as long as the allocator says.
fn free_list(host: &dyn HeapHost, allocator: &Allocator) -> Option<FxHashSet<Addr>> {
    let wanted = allocator.total.checked_sub(allocator.in_use)?;
    let (mut free, mut next) = (FxHashSet::default(), allocator.list);
    while next.get() != 0 {
        let is_over = free.len() as u64 >= wanted.min(MAX_FREE);
        if is_over || !free.insert(next) {
            return None;
        }
        next = host.space().read_addr(next).ok()?;
    }
    (free.len() as u64 == wanted).then_some(free)
}
