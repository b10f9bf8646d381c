//! Totals, from the descriptors of all extents and the caches.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::cache::Cached;
use super::extent::ExtentState;
use super::heap::{Described, Jemalloc, everywhere};
use crate::{Amount, ArenaUsage, CacheUsage, Equality, HeapHost, OwnFigure, Usage, Watch};

/// Extents between two looks at whoever watches.
const STEP: u64 = 4096;
const SMALLEST_LARGE: u64 = 16384;

/// What one arena's extents come to.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Blocks that are allocated in jemalloc's words, and their bytes: those in caches as well.
    small: (u64, u64),
    large: (u64, u64),
    /// What the allocated ones take, with rounding.
    taken: u64,
    /// Of these, cached and its own.
    cached: (u64, u64),
    internal: (u64, u64),
    /// Free blocks of slabs, and free extents.
    free: (u64, u64),
    /// Bytes of extents by their state.
    active: u64,
    dirty: u64,
    muzzy: u64,
    retained: u64,
}

/// What the extents of all arenas come to, and what was held against what.
#[derive(Default)]
struct Survey {
    arenas: BTreeMap<u16, Sums>,
    /// Free blocks by the bitmaps of slabs, and by their counters.
    free_bits: u64,
    free_counted: u64,
    contradiction: Option<kcore_mem::Addr>,
    /// Blocks in caches that are allocated blocks of their class.
    cached: u64,
    extents: u64,
}

/// The totals; `None` when whoever watches stopped it.
pub(super) fn usage(heap: &Jemalloc, host: &dyn HeapHost, watch: Watch<'_>) -> Option<Usage> {
    let survey = survey(heap, host, watch)?;
    let arenas: Vec<ArenaUsage> =
        survey.arenas.iter().map(|(arena, sums)| arena_usage(*arena, sums)).collect();
    let caches = heap.caches(host);
    let sum = |amount: fn(&ArenaUsage) -> Amount| {
        arenas.iter().map(amount).fold(Amount::new(0, 0), Amount::plus)
    };
    let total = |bytes: fn(&Sums) -> u64| {
        survey.arenas.values().map(bytes).fold(0_u64, u64::saturating_add)
    };
    Some(Usage {
        used: sum(|arena| arena.used),
        cached: sum(|arena| arena.cached),
        free: sum(|arena| arena.free),
        internal: sum(|arena| arena.internal),
        apart: Amount::new(0, 0),
        mapped: arenas.iter().map(|arena| arena.mapped).fold(0, u64::saturating_add),
        metadata: heap.tree.leaf_bytes().saturating_add(survey.extents.saturating_mul(128)),
        equalities: equalities(&survey, caches.blocks.len() as u64),
        own: own(&survey, total(|sums| sums.retained)),
        notes: notes(heap, host, total(|sums| sums.retained)),
        caches: cache_usage(heap, host),
        arenas,
    })
}

fn survey(heap: &Jemalloc, host: &dyn HeapHost, watch: Watch<'_>) -> Option<Survey> {
    let mut survey = Survey::default();
    let mut done = 0_u64;
    let walked = heap.each_extent(host, everywhere(), &mut |described| {
        survey.add(heap, host, &described);
        done = done.saturating_add(described.extent.pages.len());
        match survey.extents % STEP {
            0 => watch(done, 0),
            _ => ControlFlow::Continue(()),
        }
    });
    walked.is_continue().then_some(survey)
}

impl Survey {
    fn add(&mut self, heap: &Jemalloc, host: &dyn HeapHost, described: &Described) {
        self.extents = self.extents.saturating_add(1);
        let bytes = described.extent.pages.len();
        let sums = self.arenas.entry(described.extent.arena).or_default();
        match described.extent.state {
            ExtentState::Active => {
                add(&mut sums.active, bytes);
                self.add_active(heap, host, described);
            }
            ExtentState::Dirty => add(&mut sums.dirty, bytes),
            ExtentState::Muzzy => add(&mut sums.muzzy, bytes),
            _ => add(&mut sums.retained, bytes),
        }
        if described.extent.state != ExtentState::Active {
            self.arenas
                .entry(described.extent.arena)
                .and_modify(|sums| add_to(&mut sums.free, 1, bytes));
        }
    }

    fn add_active(&mut self, heap: &Jemalloc, host: &dyn HeapHost, described: &Described) {
        let Described { extent, size, blocks } = described;
        let free: u64 = match extent.is_slab {
            true => extent.bitmap(*blocks).iter().map(|word| u64::from(word.count_ones())).sum(),
            false => 0,
        };
        if extent.is_slab {
            add(&mut self.free_bits, free);
            add(&mut self.free_counted, extent.free);
            if free != extent.free {
                self.contradiction.get_or_insert(extent.bits_at());
            }
        }
        let caches = heap.caches(host);
        let cached = caches.within(extent.pages);
        let is_right = |block: &&Cached| is_allocated(described, block);
        let right = cached.iter().filter(is_right).count() as u64;
        add(&mut self.cached, right);
        let own =
            caches.caches.iter().filter(|cache| extent.pages.contains(cache.stacks.start)).count()
                as u64;
        let taken = if extent.is_slab { *size } else { extent.pages.len() };
        let allocated = blocks.saturating_sub(free);
        let sums = self.arenas.entry(extent.arena).or_default();
        // A sampled small block counts there as the smallest large one.
        let (class, counted) = match extent.is_slab {
            true => (&mut sums.small, *size),
            false => (&mut sums.large, (*size).max(SMALLEST_LARGE)),
        };
        add_to(class, allocated, allocated.saturating_mul(counted));
        add(&mut sums.taken, allocated.saturating_mul(taken));
        add_to(&mut sums.cached, right, right.saturating_mul(taken));
        add_to(&mut sums.internal, own, own.saturating_mul(taken));
        add_to(&mut sums.free, free, free.saturating_mul(taken));
    }
}

fn add(to: &mut u64, more: u64) {
    *to = to.saturating_add(more);
}

fn add_to(to: &mut (u64, u64), blocks: u64, bytes: u64) {
    add(&mut to.0, blocks);
    add(&mut to.1, bytes);
}

/// Whether what a cache holds is an allocated block of an extent, of the class of the cache's bin.
pub(super) fn is_allocated(described: &Described, cached: &Cached) -> bool {
    let Described { extent, size, blocks } = described;
    if cached.list.class != extent.class {
        return false;
    }
    if !extent.is_slab {
        return cached.at == extent.at;
    }
    let into = cached.at.offset_from(extent.at).unwrap_or(u64::MAX);
    let index = into.checked_div(*size).unwrap_or(u64::MAX);
    let bits = extent.bitmap(*blocks).get(index as usize / 64).copied().unwrap_or(u64::MAX);
    into.checked_rem(*size) == Some(0)
        && index < *blocks
        && bits.wrapping_shr(index as u32 % 64) & 1 == 0
}

fn arena_usage(arena: u16, sums: &Sums) -> ArenaUsage {
    let amount = |of: (u64, u64)| Amount::new(of.0, of.1);
    let blocks = sums.small.0.saturating_add(sums.large.0);
    let others = (
        sums.cached.0.saturating_add(sums.internal.0),
        sums.cached.1.saturating_add(sums.internal.1),
    );
    ArenaUsage {
        at: None,
        name: arena.to_string().into(),
        threads: Vec::new(),
        mapped: [sums.active, sums.dirty, sums.muzzy, sums.retained]
            .iter()
            .fold(0, |sum, bytes| sum.saturating_add(*bytes)),
        used: Amount::new(blocks.saturating_sub(others.0), sums.taken.saturating_sub(others.1)),
        cached: amount(sums.cached),
        free: amount(sums.free),
        internal: amount(sums.internal),
        locked: None,
    }
}

fn cache_usage(heap: &Jemalloc, host: &dyn HeapHost) -> Vec<CacheUsage> {
    let caches = heap.caches(host);
    let mut amounts = vec![Amount::new(0, 0); caches.caches.len()];
    for block in &caches.blocks {
        let size = heap.classes.size(block.list.class).unwrap_or(0);
        if let Some(amount) = amounts.get_mut(block.list.cache as usize) {
            *amount = amount.plus(Amount::new(1, size));
        }
    }
    let with = caches.caches.iter().zip(amounts);
    with.map(|(cache, cached)| CacheUsage { at: cache.at, thread: Some(cache.thread), cached })
        .collect()
}

fn equalities(survey: &Survey, cached: u64) -> Vec<Equality> {
    let mut bits = Equality::new(
        "free blocks by the bitmaps of slabs",
        survey.free_bits,
        "by their counters",
        survey.free_counted,
    );
    bits.at = survey.contradiction;
    let caches = Equality::new(
        "blocks in caches of threads",
        cached,
        "of these, allocated blocks of the same class",
        survey.cached,
    );
    vec![bits, caches]
}

/// The figures as `mallctl` names them.
fn own(survey: &Survey, retained: u64) -> Vec<OwnFigure> {
    let figure = |name: String, value: u64| OwnFigure { name: Arc::from(name), value };
    let sums = || survey.arenas.values();
    let allocated =
        sums().map(|sums| sums.small.1.saturating_add(sums.large.1)).fold(0, u64::saturating_add);
    let active = sums().map(|sums| sums.active).fold(0, u64::saturating_add);
    let mut own = vec![
        figure("stats.allocated".to_owned(), allocated),
        figure("stats.active".to_owned(), active),
        figure("stats.retained".to_owned(), retained),
    ];
    for (arena, sums) in &survey.arenas {
        let values = [
            ("pactive", sums.active / 4096),
            ("pdirty", sums.dirty / 4096),
            ("pmuzzy", sums.muzzy / 4096),
            ("small.allocated", sums.small.1),
            ("large.allocated", sums.large.1),
        ];
        own.extend(
            values.map(|(name, value)| figure(format!("stats.arenas.{arena}.{name}"), value)),
        );
    }
    own
}

fn notes(heap: &Jemalloc, host: &dyn HeapHost, retained: u64) -> Vec<String> {
    let mut notes = Vec::new();
    let (with, without) = (heap.caches(host).caches.len(), heap.caches(host).without);
    if without > 0 {
        notes.push(format!(
            "caches of {with} threads were found, and none of {without} others: those have none, or their blocks count as used"
        ));
    }
    if retained > 0 {
        notes.push(format!(
            "{retained} bytes of the free ones are retained: their addresses are kept, their memory went back to the system"
        ));
    }
    notes
}
