//! Totals. No counter tells blocks in use from those in quarantine, so that each header is looked at.

use std::ops::ControlFlow;

use super::chunk;
use super::heap::Asan;
use crate::{Amount, Block, BlockState, Equality, HeapHost, OwnFigure, Usage, Watch, words::Words};

/// Chunks between two looks at whoever watches.
const STEP: u64 = 1 << 14;

/// What chunks come to.
struct Sums {
    usage: Usage,
    requested: u64,
    seen: u64,
}

impl Sums {
    fn add(&mut self, block: &Block) {
        let amount = Amount::new(1, block.whole.len());
        let sum = match block.state {
            BlockState::Used => &mut self.usage.used,
            BlockState::Cached => &mut self.usage.cached,
            BlockState::Free => &mut self.usage.free,
            BlockState::Internal => &mut self.usage.internal,
        };
        *sum = sum.plus(amount);
        if block.state == BlockState::Used {
            self.requested = self.requested.saturating_add(block.requested.unwrap_or(0));
        }
    }
}

/// The totals; `None` when whoever watches stopped it.
pub(super) fn usage(heap: &Asan, host: &dyn HeapHost, watch: Watch<'_>) -> Option<Usage> {
    let none = Amount::new(0, 0);
    let usage = Usage { used: none, cached: none, free: none, internal: none, ..Usage::default() };
    let mut sums = Sums { usage, requested: 0, seen: 0 };
    let (mut words, mut missing) = (Words::new(host.space()), 0_u64);
    let mapped = heap.mapped(host);
    let walked = heap.each_extent(
        host,
        super::history::everywhere(),
        &mut |extent| {
            match chunk::read(&mut words, extent.start, extent.end) {
                Some(chunk) => sums.add(&extent.block(&chunk)),
                None => missing = missing.saturating_add(extent.end.saturating_sub(extent.start)),
            }
            sums.seen = sums.seen.saturating_add(1);
            match sums.seen.is_multiple_of(STEP) {
                true => watch(0, mapped),
                false => ControlFlow::Continue(()),
            }
        },
        &mut |_| {},
    );
    walked.is_continue().then(|| totals(heap, host, sums, missing))
}

fn totals(heap: &Asan, host: &dyn HeapHost, sums: Sums, missing: u64) -> Usage {
    let parts = heap.parts(host);
    let lists = parts.regions.iter().map(|region| region.list).fold(0, u64::saturating_add);
    let apart = parts.large.iter().map(|large| large.whole.len()).fold(0, u64::saturating_add);
    let mapped = heap.mapped(host);
    let metadata = lists.saturating_add(heap.instance.infos().len());
    let mut notes = heap.notes(host);
    if missing > 0 {
        notes.push(format!("{missing} bytes of blocks whose headers memory lacks"));
    }
    let own = |name: &str, value| OwnFigure { name: name.into(), value };
    Usage {
        apart: Amount::new(parts.large.len() as u64, apart),
        mapped,
        metadata,
        equalities: equalities(heap, host),
        own: vec![
            own("__sanitizer_get_current_allocated_bytes", sums.requested),
            own("__sanitizer_get_heap_size", mapped.saturating_add(metadata)),
        ],
        notes,
        ..sums.usage
    }
}

/// Each chunk of a region is in its list, or threads took it and did not give it back.
fn equalities(heap: &Asan, host: &dyn HeapHost) -> Vec<Equality> {
    let regions = heap.parts(host).regions.iter();
    let of_region = regions.map(|region| {
        let size = region.size;
        let out = region.given.wrapping_sub(region.taken).wrapping_add(region.freed);
        let one = format!("chunks of {size} bytes");
        let other = format!("chunks of {size} bytes that are free or with threads");
        Equality::new(&one, region.chunks, &other, out)
    });
    of_region.collect()
}
