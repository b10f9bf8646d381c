//! Totals, from the counters and lists of all pages.

use crate::{Amount, ArenaUsage, Equality, HeapHost, Usage, Watch};

use super::heap::{Mimalloc, OwnHeap, Root, Survey};
use super::lists::FreeBlocks;
use super::page::Page;

/// Pages between two looks at whoever watches.
const STEP: usize = 256;

/// What pages come to.
#[derive(Clone, Copy, Default)]
struct Sums {
    used: (u64, u64),
    free: (u64, u64),
    mapped: u64,
}

impl Sums {
    fn add(&mut self, page: &Page, free: u64) {
        let used = page.capacity.saturating_sub(free);
        add_to(&mut self.used, used, used.saturating_mul(page.block_size));
        add_to(&mut self.free, free, free.saturating_mul(page.block_size));
        self.mapped = self.mapped.saturating_add(page.range().len());
    }
}

fn add_to(to: &mut (u64, u64), blocks: u64, bytes: u64) {
    *to = (to.0.saturating_add(blocks), to.1.saturating_add(bytes));
}

/// The totals; `None` when whoever watches stopped it.
pub(super) fn usage(heap: &Mimalloc, host: &dyn HeapHost, watch: Watch<'_>) -> Option<Usage> {
    let known = heap.known(host);
    let mut sums = vec![Sums::default(); known.heaps.len()];
    let (mut listed, mut counted, mut first_wrong) = (0_u64, 0_u64, None);
    for (number, page) in known.pages.iter().enumerate() {
        if number.is_multiple_of(STEP) && watch(number as u64, known.pages.len() as u64).is_break()
        {
            return None;
        }
        let blocks = FreeBlocks::of(host.space(), page);
        let [free, local, _] = blocks.counts;
        listed = listed.saturating_add(free).saturating_add(local);
        counted = counted.saturating_add(page.capacity.saturating_sub(page.used));
        if !blocks.agree(page) {
            first_wrong.get_or_insert(page.at);
        }
        let free = blocks.count().saturating_add(delayed_of(known, page));
        let index = heap.arena_of(host, page).map_or(usize::MAX, |index| index as usize);
        if let Some(sums) = sums.get_mut(index) {
            sums.add(page, free);
        }
    }
    let mut equality =
        Equality::new("free blocks by the lists of pages", listed, "by their counters", counted);
    equality.at = first_wrong;
    Some(totals(heap, known, &sums, equality))
}

/// Blocks of a page that heaps have in their lists of delayed ones.
fn delayed_of(known: &Survey, page: &Page) -> u64 {
    let range = page.range();
    let from = known.delayed.partition_point(|at| *at < range.start);
    let to = known.delayed.partition_point(|at| *at < range.end);
    let blocks = known.delayed.get(from..to).unwrap_or_default();
    blocks.iter().filter(|at| page.index_of(**at).is_some()).count() as u64
}

fn totals(heap: &Mimalloc, known: &Survey, sums: &[Sums], equality: Equality) -> Usage {
    let arenas: Vec<ArenaUsage> =
        known.heaps.iter().zip(sums).map(|(own, sums)| arena(own, sums)).collect();
    let sum = |amount: fn(&ArenaUsage) -> Amount| {
        arenas.iter().map(amount).fold(Amount::new(0, 0), Amount::plus)
    };
    let pages = arenas.iter().map(|arena| arena.mapped).fold(0, u64::saturating_add);
    let (mapped, metadata) = match &heap.root {
        Root::Segments(segments) => (
            segments.iter().map(|segment| segment.range().len()).fold(0, u64::saturating_add),
            segments.iter().map(super::segments::Segment::metadata).fold(0, u64::saturating_add),
        ),
        Root::Map(_) => (pages, (known.pages.len() as u64).saturating_mul(heap.layout.page.bytes)),
    };
    let notes = match &heap.root {
        Root::Map(_) => {
            vec!["what is mapped counts pages: free slices of arenas are not known".to_owned()]
        }
        Root::Segments(_) => Vec::new(),
    };
    Usage {
        used: sum(|arena| arena.used),
        cached: Amount::new(0, 0),
        free: sum(|arena| arena.free),
        internal: Amount::new(0, 0),
        apart: Amount::new(0, 0),
        mapped,
        metadata,
        equalities: vec![equality],
        notes,
        arenas,
        ..Usage::default()
    }
}

fn arena(own: &OwnHeap, sums: &Sums) -> ArenaUsage {
    ArenaUsage {
        at: Some(own.at).filter(|at| at.get() > 0 && !own.is_thread),
        name: own.name(),
        threads: own.threads.clone(),
        mapped: sums.mapped,
        used: Amount::new(sums.used.0, sums.used.1),
        cached: Amount::new(0, 0),
        free: Amount::new(sums.free.0, sums.free.1),
        internal: Amount::new(0, 0),
        locked: None,
    }
}
