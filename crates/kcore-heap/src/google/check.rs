//! What is torn: spans whose lists or bitmaps contradict their counters, and caches that hold what they cannot have.

use std::ops::ControlFlow;

use kcore_mem::Addr;

use super::cache::CachedBlock;
use super::heap::Google;
use super::map::EVERYWHERE;
use super::objects::{Broken, Objects};
use super::span::{Content, Span};
use crate::{HeapHost, NativeHeap, Torn, TornKind, Watch};

/// Spans, and blocks of caches, between two looks at whoever watches.
const SPANS: u64 = 1024;
const CACHED: usize = 64;
/// Blocks of caches that are told of that are wrong.
const MAX_TOLD: usize = 1000;

/// Tells of all that is torn; `None` when whoever watches stopped it.
pub(super) fn check(
    heap: &Google,
    host: &dyn HeapHost,
    watch: Watch<'_>,
    tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
) -> Option<()> {
    let (mut stopped, mut told, mut seen) = (false, false, 0_u64);
    let _ = heap.each_span(host.space(), EVERYWHERE, &mut |span| {
        seen = seen.saturating_add(1);
        if seen.is_multiple_of(SPANS) && watch(0, 0).is_break() {
            stopped = true;
            return ControlFlow::Break(());
        }
        let torn = of_span(heap, host, &span).map_or(ControlFlow::Continue(()), &mut *tell);
        told |= torn.is_break();
        torn
    });
    match (stopped, told) {
        (true, _) => None,
        (false, true) => Some(()),
        (false, false) => caches(heap, host, watch, tell),
    }
}

fn of_span(heap: &Google, host: &dyn HeapHost, span: &Span) -> Option<Torn> {
    let Content::Small(class) = span.content else { return None };
    let start = span.range.start;
    let Some(size) = heap.size_of(class) else {
        let why = format!("the span at {start} has the size class {class}, which does not exist");
        return Some(torn(TornKind::Structure, span.at, why));
    };
    let objects = heap.objects(host.space(), span, size);
    let Some(broken) = objects.broken else { return count(span, size, &objects) };
    let (kind, at, why) = match broken {
        Broken::Again(at) => {
            (TornKind::Loop, at, format!("the free blocks of the span at {start} have it twice"))
        }
        Broken::NoBlock(at) => {
            let why = format!(
                "the free blocks of the span at {start} lead to {at}, where no block begins"
            );
            (TornKind::Link, span.at, why)
        }
        Broken::Unreadable(at) => {
            let why =
                format!("the free blocks of the span at {start} lead to {at}, which has no bytes");
            (TornKind::Link, span.at, why)
        }
    };
    Some(Torn { block: heap.block_at(host, at), ..torn(kind, at, why) })
}

fn count(span: &Span, size: u64, objects: &Objects) -> Option<Torn> {
    let blocks = span.blocks(size);
    let why = format!(
        "the span at {} has room for {blocks} blocks, handed out {}, and has {}",
        span.range.start,
        span.handed_out(size),
        objects.count
    );
    (span.handed_out(size).saturating_add(objects.count) != blocks)
        .then(|| torn(TornKind::Count, span.at, why))
}

/// Tells what is wrong with the caches: blocks that are none, or are there twice; `None` when whoever watches stopped it.
fn caches(
    heap: &Google,
    host: &dyn HeapHost,
    watch: Watch<'_>,
    tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
) -> Option<()> {
    let (mut told, mut last) = (0_usize, None);
    for (number, cached) in heap.caches.blocks.iter().enumerate() {
        if number.is_multiple_of(CACHED) && watch(0, 0).is_break() {
            return None;
        }
        // A list that runs in a ring has a block many times: once is enough.
        let twice = last.replace(cached.at) == Some(cached.at);
        let twice = twice.then(|| freed_twice(heap, host, cached));
        if let Some(torn) = twice.or_else(|| misplaced(heap, host, cached)) {
            told = told.saturating_add(1);
            if tell(torn).is_break() || told >= MAX_TOLD {
                return Some(());
            }
        }
    }
    Some(())
}

fn freed_twice(heap: &Google, host: &dyn HeapHost, cached: &CachedBlock) -> Torn {
    let list = heap.list(cached.list()).name;
    let why = format!("the block is twice in caches ({list}): it was freed twice");
    Torn { block: heap.block_at(host, cached.at), ..torn(TornKind::DoubleFree, cached.at, why) }
}

fn misplaced(heap: &Google, host: &dyn HeapHost, cached: &CachedBlock) -> Option<Torn> {
    let list = heap.list(cached.list()).name;
    let span = heap.span_at(host.space(), cached.at);
    let place = span.and_then(|span| {
        let size =
            heap.size_of(cached.class).filter(|_| span.content.class() == Some(cached.class))?;
        let index = span.index_of(size, cached.at)?;
        Some(heap.objects(host.space(), &span, size).is_free(index))
    });
    match place {
        Some(false) => None,
        Some(true) => {
            let why = format!(
                "the block is in a cache ({list}), and its span has it too: it was freed twice"
            );
            let block = heap.block_at(host, cached.at);
            Some(Torn { block, ..torn(TornKind::DoubleFree, cached.at, why) })
        }
        None => {
            let why = format!("what is in a cache ({list}) is no block of its size");
            Some(torn(TornKind::Link, cached.at, why))
        }
    }
}

fn torn(kind: TornKind, at: Addr, why: String) -> Torn {
    Torn { kind, at, holds: None, why, block: None, before: None, may_be_in_motion: false }
}
