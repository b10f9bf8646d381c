//! What is torn: descriptors, bitmaps and caches that contradict each other.

use std::ops::ControlFlow;

use kcore_mem::Addr;

use super::cache::Cached;
use super::extent::{Extent, ExtentState};
use super::heap::{Jemalloc, everywhere};
use super::tree::Entry;
use super::usage::is_allocated;
use crate::{HeapHost, NativeHeap, Torn, TornKind, Watch};

const STEP: u64 = 4096;
/// Blocks of caches between two looks at whoever watches: each may lead to a long search.
const CACHED: usize = 64;
/// Of these, how many are told of that are wrong.
const MAX_TOLD: usize = 1000;

/// Tells of all that is torn; `None` when whoever watches stopped it.
pub(super) fn check(
    heap: &Jemalloc,
    host: &dyn HeapHost,
    watch: Watch<'_>,
    tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
) -> Option<()> {
    let (mut stopped, mut told, mut seen) = (false, false, 0_u64);
    let _ = heap.tree.each_entry(host.space(), everywhere(), &mut |entry| {
        seen = seen.saturating_add(1);
        if seen.is_multiple_of(STEP) && watch(0, 0).is_break() {
            stopped = true;
            return ControlFlow::Break(());
        }
        let torn = extent(heap, &entry).into_iter().try_for_each(&mut *tell);
        told |= torn.is_break();
        torn
    });
    if !stopped && !told {
        stopped = caches(heap, host, watch, tell).is_none();
    }
    (!stopped).then_some(())
}

/// What is wrong with an extent.
fn extent(heap: &Jemalloc, entry: &Entry) -> Option<Torn> {
    let Entry { extent, .. } = entry;
    if extent.state != ExtentState::Active {
        return None;
    }
    if entry.class != extent.class || entry.is_slab != extent.is_slab {
        let why = format!(
            "the descriptor of the pages at {} says size class {}, the tree of pages says {}",
            extent.pages.start, extent.class, entry.class
        );
        return Some(torn(TornKind::Structure, extent.bits_at(), why));
    }
    let Some(described) = heap.describe(*extent) else {
        let why = format!(
            "the pages at {} are of the size class {}, which they cannot hold",
            extent.pages.start, extent.class
        );
        return Some(torn(TornKind::Structure, extent.bits_at(), why));
    };
    let free: u64 =
        extent.bitmap(described.blocks).iter().map(|word| u64::from(word.count_ones())).sum();
    let is_wrong = extent.is_slab && free != extent.free;
    is_wrong.then(|| slab(extent, free))
}

fn slab(extent: &Extent, free: u64) -> Torn {
    let why = format!(
        "the slab at {} counts {} free blocks, and its bitmap has {free}: a block of it was freed twice, or its descriptor was overwritten",
        extent.pages.start, extent.free
    );
    torn(TornKind::Count, extent.bits_at(), why)
}

/// Tells what is wrong with the caches: blocks that are none, or are there twice; `None` when whoever watches stopped it.
fn caches(
    heap: &Jemalloc,
    host: &dyn HeapHost,
    watch: Watch<'_>,
    tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
) -> Option<()> {
    let blocks = &heap.caches(host).blocks;
    let mut told = 0_usize;
    for (number, cached) in blocks.iter().enumerate() {
        if number.is_multiple_of(CACHED) && watch(0, 0).is_break() {
            return None;
        }
        let is_again = number.checked_sub(1).and_then(|before| blocks.get(before));
        let is_again = is_again.is_some_and(|before| before.at == cached.at);
        let twice = is_again.then(|| freed_twice(heap, host, *cached));
        let torn = twice.into_iter().chain(misplaced(heap, host, *cached));
        for torn in torn {
            told = told.saturating_add(1);
            if tell(torn).is_break() || told >= MAX_TOLD {
                return Some(());
            }
        }
    }
    Some(())
}

fn freed_twice(heap: &Jemalloc, host: &dyn HeapHost, cached: Cached) -> Torn {
    let list = heap.list(cached.list.id()).name;
    let why = format!("the block is twice in caches of threads ({list}): it was freed twice");
    Torn { block: heap.block_at(host, cached.at), ..torn(TornKind::DoubleFree, cached.at, why) }
}

fn misplaced(heap: &Jemalloc, host: &dyn HeapHost, cached: Cached) -> Option<Torn> {
    let extent = heap.tree.extent_at(host.space(), cached.at);
    let described = extent.and_then(|extent| heap.describe(extent));
    if described.is_some_and(|described| is_allocated(&described, &cached)) {
        return None;
    }
    let list = heap.list(cached.list.id()).name;
    let why = format!("what is in a cache of a thread ({list}) is no allocated block of its size");
    Some(Torn { block: heap.block_at(host, cached.at), ..torn(TornKind::Link, cached.at, why) })
}

fn torn(kind: TornKind, at: Addr, why: String) -> Torn {
    Torn { kind, at, holds: None, why, block: None, before: None, may_be_in_motion: false }
}
