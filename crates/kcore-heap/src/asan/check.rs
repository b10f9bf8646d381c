//! What is torn: descriptions of regions, words that lead to large blocks, headers of blocks.

use std::ops::ControlFlow;

use kcore_mem::Addr;

use super::chunk::{self, Chunk};
use super::heap::{Asan, Extent};
use super::history::everywhere;
use crate::{Block, HeapHost, Torn, TornKind, Watch, words::Words};

/// Chunks between two looks at whoever watches.
const STEP: u64 = 1 << 14;

/// Tells of all that is torn; `None` when whoever watches stopped it.
pub(super) fn check(
    heap: &Asan,
    host: &dyn HeapHost,
    watch: Watch<'_>,
    tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
) -> Option<()> {
    let parts = heap.parts(host);
    let regions =
        parts.torn_regions.iter().map(|at| (at, "the description of a region is impossible"));
    let large =
        parts.torn_large.iter().map(|at| (at, "what should lead to a large block does not"));
    for (at, why) in regions.chain(large) {
        if tell(torn(TornKind::Structure, *at, why)).is_break() {
            return Some(());
        }
    }
    let (mut seen, mut is_stopped) = (0_u64, false);
    let (mut words, mut before) = (Words::new(host.space()), None);
    // Whether it ended early is told by `is_stopped`.
    let _ = heap.each_extent(
        host,
        everywhere(),
        &mut |extent| {
            seen = seen.saturating_add(1);
            if seen.is_multiple_of(STEP) && watch(0, 0).is_break() {
                is_stopped = true;
                return ControlFlow::Break(());
            }
            of_extent(&mut words, extent, &mut before, tell)
        },
        &mut |_| {},
    );
    (!is_stopped).then_some(())
}

fn torn(kind: TornKind, at: Addr, why: &str) -> Torn {
    let why = why.to_owned();
    Torn { kind, at, holds: None, why, block: None, before: None, may_be_in_motion: false }
}

fn of_extent(
    words: &mut Words<'_>,
    extent: Extent,
    before: &mut Option<Block>,
    tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(chunk) = chunk::read(words, extent.start, extent.end) else {
        return ControlFlow::Continue(());
    };
    let block = extent.block(&chunk);
    if let Chunk::Torn { at, why } = chunk {
        let adjacent = before.filter(|it| it.whole.end == block.whole.start);
        let found = torn(TornKind::Header, Addr::new(at), why);
        tell(Torn { holds: words.word(at), block: Some(block), before: adjacent, ..found })?;
    }
    *before = Some(block);
    ControlFlow::Continue(())
}
