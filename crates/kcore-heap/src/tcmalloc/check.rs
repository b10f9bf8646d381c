//! What is torn: lists of spans and of caches that contradict the counters, or each other.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange};

use super::cache::Cached;
use super::heap::Tcmalloc;
use super::span::{Location, Objects, Span, index_of};
use crate::{HeapHost, NativeHeap, Torn, TornKind, Watch};

const STEP: u64 = 1024;
/// Blocks of caches between two looks at whoever watches: each may lead to a long search.
const CACHED: usize = 64;
/// Of these, how many are told of that are wrong.
const MAX_TOLD: usize = 1000;

/// Tells of all that is torn; `None` when whoever watches stopped it.
pub(super) fn check(
    heap: &Tcmalloc,
    host: &dyn HeapHost,
    watch: Watch<'_>,
    tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
) -> Option<()> {
    let (mut stopped, mut told, mut seen) = (false, false, 0_u64);
    let everywhere = AddrRange::new(Addr::new(0), Addr::new(u64::MAX));
    let _ = heap.map.each_span(host.space(), everywhere, &mut |span| {
        seen = seen.saturating_add(1);
        if seen.is_multiple_of(STEP) && watch(0, 0).is_break() {
            stopped = true;
            return ControlFlow::Break(());
        }
        let torn = of_span(heap, host, &span).into_iter().try_for_each(&mut *tell);
        told |= torn.is_break();
        torn
    });
    if !stopped && !told {
        stopped = caches(heap, host, watch, tell).is_none();
    }
    (!stopped).then_some(())
}

fn of_span(heap: &Tcmalloc, host: &dyn HeapHost, span: &Span) -> Option<Torn> {
    if span.location != Location::InUse || span.class == 0 {
        return None;
    }
    let Some(size) = heap.block_size(span) else {
        let why = format!(
            "the span at {} has the size class {}, which does not exist",
            span.range.start, span.class
        );
        return Some(torn(TornKind::Structure, span.at, why));
    };
    let objects = Objects::of(host.space(), span, size);
    match objects.broken {
        Some((to, true)) => {
            let why =
                format!("the free list of the span at {} leads back into itself", span.range.start);
            Some(Torn { block: heap.block_at(host, to), ..torn(TornKind::Loop, to, why) })
        }
        Some((to, false)) => {
            let why = format!(
                "the free list of the span at {} leads to {to}, which is no block of it",
                span.range.start
            );
            Some(torn(TornKind::Link, span.at, why))
        }
        None => count(span, size, &objects),
    }
}

fn count(span: &Span, size: u64, objects: &Objects) -> Option<Torn> {
    let blocks = span.blocks(size);
    let why = format!(
        "the span at {} has room for {blocks} blocks, handed out {}, and has {} in its list",
        span.range.start, span.handed_out, objects.count
    );
    (span.handed_out.saturating_add(objects.count) != blocks)
        .then(|| torn(TornKind::Count, span.at, why))
}

/// Tells what is wrong with the caches: blocks that are none, or are there twice; `None` when whoever watches stopped it.
fn caches(
    heap: &Tcmalloc,
    host: &dyn HeapHost,
    watch: Watch<'_>,
    tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
) -> Option<()> {
    if short_lists(heap, tell).is_break() {
        return Some(());
    }
    let blocks = &heap.caches.blocks;
    let mut told = 0_usize;
    let mut last = None;
    for (number, cached) in blocks.iter().enumerate() {
        if number.is_multiple_of(CACHED) && watch(0, 0).is_break() {
            return None;
        }
        let is_again = number.checked_sub(1).and_then(|before| blocks.get(before));
        let is_again = is_again.is_some_and(|before| before.at == cached.at);
        let twice = is_again.then(|| freed_twice(heap, host, *cached));
        let torn = twice.into_iter().chain(misplaced(heap, host, *cached));
        for torn in torn {
            // A list that runs in a ring has a block many times: once is enough.
            if last.replace((torn.kind, torn.at)) == Some((torn.kind, torn.at)) {
                continue;
            }
            told = told.saturating_add(1);
            if tell(torn).is_break() || told >= MAX_TOLD {
                return Some(());
            }
        }
    }
    Some(())
}

/// Lists of caches that lead to fewer blocks than they count: those behind the torn link are free and not known.
fn short_lists(heap: &Tcmalloc, tell: &mut dyn FnMut(Torn) -> ControlFlow<()>) -> ControlFlow<()> {
    for (number, cache) in (0_u32..).zip(&heap.caches.caches) {
        let blocks = heap.caches.blocks.iter().filter(|block| block.cache == number).count();
        let lost = cache.counted.saturating_sub(blocks as u64);
        if lost > 0 {
            let why = format!(
                "the lists of the cache count {} blocks, and lead to {blocks}: a link is torn, and {lost} freed blocks seem to be used",
                cache.counted
            );
            tell(torn(TornKind::Count, cache.at, why))?;
        }
    }
    ControlFlow::Continue(())
}

fn freed_twice(heap: &Tcmalloc, host: &dyn HeapHost, cached: Cached) -> Torn {
    let list = heap.list(cached.list()).name;
    let why = format!("the block is twice in caches ({list}): it was freed twice");
    Torn { block: heap.block_at(host, cached.at), ..torn(TornKind::DoubleFree, cached.at, why) }
}

fn misplaced(heap: &Tcmalloc, host: &dyn HeapHost, cached: Cached) -> Option<Torn> {
    let span = heap.map.span_at(host.space(), cached.at);
    let is_block = span.is_some_and(|span| {
        let size = heap.block_size(&span).filter(|_| span.class == cached.class);
        size.is_some_and(|size| index_of(&span, size, cached.at).is_some())
    });
    let why =
        format!("what is in a cache ({}) is no block of its size", heap.list(cached.list()).name);
    (!is_block).then(|| torn(TornKind::Link, cached.at, why))
}

fn torn(kind: TornKind, at: Addr, why: String) -> Torn {
    Torn { kind, at, holds: None, why, block: None, before: None, may_be_in_motion: false }
}
