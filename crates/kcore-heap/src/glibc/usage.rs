//! Totals, and what proves them.

use std::ops::ControlFlow;

use kcore_mem::Addr;
use kcore_parallel::prelude::*;
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

use super::{
    Glibc,
    arena::Arena,
    caches::Caches,
    chunk::{FLAGS, MIN_SIZE},
    list_id::{self, ListName},
    lists::{bins_of, each_in_bin},
};
use crate::{
    Amount, ArenaUsage, BlockFilter, BlockSink, BlockState, CacheUsage, Depth, Equality, HeapHost,
    OwnFigure, Usage, Watch, words::Words,
};

/// What an arena itself says.
#[derive(Clone, Copy, Default)]
struct ArenaFigures {
    system: u64,
    top: u64,
    binned: Count,
}

/// Chunks, and their bytes.
#[derive(Clone, Copy, Default)]
struct Count {
    chunks: u64,
    bytes: u64,
}

impl Count {
    const fn add(&mut self, bytes: u64) {
        self.chunks = self.chunks.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    const fn amount(self) -> Amount {
        Amount::new(self.chunks, self.bytes)
    }
}

/// What is in lists, by arena and by cache.
#[derive(Default)]
struct Listed {
    fast: Count,
    cached: Vec<Count>,
    internal: Vec<Count>,
    by_cache: Vec<Count>,
}

/// The totals of a heap; `None` when whoever watches stopped it.
pub fn of(heap: &Glibc, host: &dyn HeapHost, depth: Depth, watch: Watch<'_>) -> Option<Usage> {
    let arenas_of = heap.ring.arenas.par_iter();
    let mut figures: Vec<ArenaFigures> =
        arenas_of.map(|arena| figures_of(heap, host, arena)).collect();
    for (index, figures) in figures.iter_mut().enumerate() {
        figures.top = heap.regions(host).top(index);
    }
    if watch(0, 0).is_break() {
        return None;
    }
    let caches = heap.caches(host);
    let listed = listed(heap, host, caches);
    let mut usage = Usage { arenas: arenas(heap, host, &figures, &listed), ..Usage::default() };
    usage.caches = caches_usage(caches, &listed);
    total(heap, &mut usage);
    let overheads = (0..figures.len()).map(|index| heap.regions(host).overhead(index));
    usage.metadata = overheads.fold(0, u64::saturating_add);
    own_figures(heap, &figures, &listed, &mut usage);
    let counts = caches.counts;
    let equality =
        Equality::new("blocks in thread caches, by counters", counts.0, "by lists", counts.1);
    usage.equalities.push(equality);
    usage.notes.extend(heap.regions(host).notes.iter().cloned());
    usage.notes.extend(caches.bad.iter().map(|bad| {
        let list = crate::NativeHeap::list(heap, bad.list);
        format!("{} is torn: what is behind the torn link counts as used", list.name)
    }));
    if depth == Depth::Blocks { by_walk(heap, host, &figures, usage, watch) } else { Some(usage) }
}

fn figures_of(heap: &Glibc, host: &dyn HeapHost, arena: &Arena) -> ArenaFigures {
    let mut words = Words::new(host.space());
    let layout = heap.ring.layout;
    let system = arena.word(&mut words, layout.system_mem).unwrap_or(0);
    let mut binned = Count::default();
    for (_, bin) in bins_of(arena.at.get().wrapping_add(layout.bins)) {
        each_in_bin(&mut words, bin, system / MIN_SIZE, &mut |_, size| binned.add(size));
    }
    ArenaFigures { system, top: 0, binned }
}

fn listed(heap: &Glibc, host: &dyn HeapHost, caches: &Caches) -> Listed {
    let mut words = Words::new(host.space());
    let count = heap.ring.arenas.len();
    let none = || vec![Count::default(); count];
    let mut listed = Listed { cached: none(), internal: none(), ..Listed::default() };
    listed.by_cache = vec![Count::default(); caches.caches.len()];
    let regions = heap.regions(host);
    for (chunk, list) in &caches.chunks {
        let size = words.word(chunk.wrapping_add(8)).map_or(0, |word| word & !FLAGS);
        let arena = regions.at(*chunk).map_or(0, |region| region.arena as usize);
        let of_arena = match *list {
            list_id::STRUCTURE => &mut listed.internal,
            _ => &mut listed.cached,
        };
        if let Some(count) = of_arena.get_mut(arena) {
            count.add(size);
        }
        match list_id::name_of(*list) {
            Some(ListName::Fast(_)) => listed.fast.add(size),
            Some(ListName::Tcache(cache, _)) => {
                if let Some(count) = listed.by_cache.get_mut(cache) {
                    count.add(size);
                }
            }
            _ => {}
        }
    }
    listed
}

fn arenas(
    heap: &Glibc,
    host: &dyn HeapHost,
    figures: &[ArenaFigures],
    listed: &Listed,
) -> Vec<ArenaUsage> {
    let mut words = Words::new(host.space());
    let mut threads = threads_of(heap, host);
    let of_arena = |(index, (arena, figures)): (usize, (&Arena, &ArenaFigures))| {
        let cached = listed.cached.get(index).copied().unwrap_or_default().amount();
        let internal = listed.internal.get(index).copied().unwrap_or_default().amount();
        let has_top = u64::from(figures.top > 0);
        let free = Amount::new(
            figures.binned.chunks.saturating_add(has_top),
            figures.binned.bytes.saturating_add(figures.top),
        );
        let overhead = heap.regions(host).overhead(index);
        let rest = [cached.bytes, internal.bytes, free.bytes, overhead]
            .into_iter()
            .fold(figures.system, u64::saturating_sub);
        ArenaUsage {
            at: Some(arena.at),
            name: Glibc::name_of_arena(u32::try_from(index).unwrap_or(u32::MAX)),
            threads: threads.remove(&arena.at).unwrap_or_default(),
            mapped: figures.system,
            used: Amount { blocks: None, bytes: rest },
            cached,
            free,
            internal,
            locked: arena.is_locked(&mut words),
        }
    };
    heap.ring.arenas.iter().zip(figures).enumerate().map(of_arena).collect()
}

/// The threads of each arena: near the thread pointer lies a variable that points to it, at the same distance for all.
fn threads_of(heap: &Glibc, host: &dyn HeapHost) -> FxHashMap<Addr, Vec<Tid>> {
    const REACH: i64 = 512;
    let mut words = Words::new(host.space());
    let threads =
        host.threads().into_iter().filter_map(|tid| Some((tid, host.thread_pointer(tid)?)));
    let mut threads: Vec<(Tid, Addr)> = threads.collect();
    threads.sort_unstable();
    let mut by_offset: FxHashMap<i64, Vec<(Tid, Addr)>> = FxHashMap::default();
    let arenas: rustc_hash::FxHashSet<u64> =
        heap.ring.arenas.iter().map(|arena| arena.at.get()).collect();
    for (tid, pointer) in threads {
        for offset in (-REACH..0).step_by(8) {
            let value = words.word(pointer.get().wrapping_add_signed(offset));
            if let Some(arena) = value.filter(|value| arenas.contains(value)) {
                by_offset.entry(offset).or_default().push((tid, Addr::new(arena)));
            }
        }
    }
    let best = by_offset.into_iter().max_by_key(|(offset, found)| (found.len(), *offset));
    let mut threads: FxHashMap<Addr, Vec<Tid>> = FxHashMap::default();
    for (tid, arena) in best.map(|(_, found)| found).unwrap_or_default() {
        threads.entry(arena).or_default().push(tid);
    }
    threads
}

fn caches_usage(caches: &Caches, listed: &Listed) -> Vec<CacheUsage> {
    let usage = |(cache, count): (&super::caches::Cache, &Count)| CacheUsage {
        at: Addr::new(cache.chunk.wrapping_add(super::chunk::HEADER)),
        thread: cache.thread,
        cached: count.amount(),
    };
    caches.caches.iter().zip(&listed.by_cache).map(usage).collect()
}

/// Adds the arenas, and what has mappings of its own.
fn total(heap: &Glibc, usage: &mut Usage) {
    let sum = |of: fn(&ArenaUsage) -> Amount| {
        usage.arenas.iter().map(of).fold(Amount::new(0, 0), Amount::plus)
    };
    let (used, cached) = (sum(|arena| arena.used), sum(|arena| arena.cached));
    let (free, internal) = (sum(|arena| arena.free), sum(|arena| arena.internal));
    let apart = heap.par.map(|par| Amount::new(par.mmaps, par.mmapped)).unwrap_or_default();
    let mapped =
        usage.arenas.iter().map(|arena| arena.mapped).fold(apart.bytes, u64::saturating_add);
    (usage.used, usage.cached, usage.free, usage.internal) =
        (used.plus(apart), cached, free, internal);
    (usage.apart, usage.mapped) = (apart, mapped);
}

/// What `mallinfo2` would say.
fn own_figures(heap: &Glibc, figures: &[ArenaFigures], listed: &Listed, usage: &mut Usage) {
    let sum = |of: fn(&ArenaFigures) -> u64| figures.iter().map(of).fold(0, u64::saturating_add);
    let system = sum(|it| it.system);
    let binned = sum(|it| it.binned.bytes);
    let free = binned.saturating_add(listed.fast.bytes).saturating_add(sum(|it| it.top));
    let main_top = figures.first().map_or(0, |it| it.top);
    let (mmaps, mmapped) = heap.par.map_or((0, 0), |par| (par.mmaps, par.mmapped));
    let own = [
        ("mallinfo2.arena", system),
        ("mallinfo2.ordblks", sum(|it| it.binned.chunks).saturating_add(figures.len() as u64)),
        ("mallinfo2.smblks", listed.fast.chunks),
        ("mallinfo2.hblks", mmaps),
        ("mallinfo2.hblkhd", mmapped),
        ("mallinfo2.fsmblks", listed.fast.bytes),
        ("mallinfo2.uordblks", system.saturating_sub(free)),
        ("mallinfo2.fordblks", free),
        ("mallinfo2.keepcost", main_top),
    ];
    usage.own =
        own.into_iter().map(|(name, value)| OwnFigure { name: name.into(), value }).collect();
}

/// Counts all blocks, and holds lists and counters against them.
fn by_walk(
    heap: &Glibc,
    host: &dyn HeapHost,
    figures: &[ArenaFigures],
    mut usage: Usage,
    watch: Watch<'_>,
) -> Option<Usage> {
    let mut used = vec![Count::default(); figures.len()];
    let (mut free, mut apart, mut all) = (Count::default(), Count::default(), Count::default());
    let mut is_stopped = false;
    let mut stopping = |done, total| {
        let flow = watch(done, total);
        is_stopped |= flow.is_break();
        flow
    };
    let mut tell = |blocks: &[crate::Block]| {
        for block in blocks {
            let bytes = block.whole.len();
            match (block.arena, block.state) {
                (None, _) => apart.add(bytes),
                (Some(_), BlockState::Free) if block.list != Some(list_id::TOP) => free.add(bytes),
                (Some(arena), BlockState::Used) => {
                    if let Some(count) = used.get_mut(arena as usize) {
                        count.add(bytes);
                    }
                }
                _ => {}
            }
            if block.arena.is_some() {
                all.add(bytes);
            }
        }
        ControlFlow::Continue(())
    };
    let mut sink = BlockSink::new(BlockFilter::ALL, &mut stopping, &mut tell);
    let walked = crate::NativeHeap::walk(heap, host, &mut sink);
    let flushed = sink.flush();
    let notes = sink.into_notes();
    if is_stopped || walked.is_break() || flushed.is_break() {
        return None;
    }
    for (arena, count) in usage.arenas.iter_mut().zip(&used) {
        arena.used = count.amount();
    }
    let sum = used.iter().fold(Amount::new(0, 0), |sum, count| sum.plus(count.amount()));
    usage.used = sum.plus(apart.amount());
    let binned = figures.iter().map(|it| it.binned);
    let binned = binned.fold(Count::default(), |sum, it| Count {
        chunks: sum.chunks.saturating_add(it.chunks),
        bytes: sum.bytes.saturating_add(it.bytes),
    });
    let mut equal = |one: &str, first: u64, other: &str, second: u64| {
        usage.equalities.push(Equality::new(one, first, other, second));
    };
    equal("free chunks, by bins", binned.chunks, "by marks", free.chunks);
    equal("bytes of free chunks, by bins", binned.bytes, "by marks", free.bytes);
    if let Some(par) = heap.par {
        equal("mmapped chunks, by n_mmaps", par.mmaps, "by search", apart.chunks);
        equal("bytes of mmapped chunks, by mmapped_mem", par.mmapped, "by search", apart.bytes);
    }
    let known: Vec<String> = usage.notes.clone();
    usage.notes.extend(notes.into_iter().filter(|note| !known.contains(note)));
    Some(usage)
}
