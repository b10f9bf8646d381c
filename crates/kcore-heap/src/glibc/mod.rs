//! glibc's malloc, 2.17 and later.
//!
//! Nothing but memory is needed: an arena is found by its empty bins, which point to themselves, and all else follows from
//! it. A process may have several copies, one for each namespace of the dynamic linker: each is a heap.
//!
//! Layouts are those of `malloc/malloc.c` and `malloc/arena.c`, see [`layout`].

mod arena;
mod caches;
mod check;
mod chunk;
mod detect;
mod index;
mod layout;
mod list_id;
mod lists;
mod mmapped;
mod par;
mod regions;
mod usage;
mod walk;

use std::{
    ops::ControlFlow,
    sync::{Arc, OnceLock},
};

use kcore_mem::{Addr, AddrRange};

use self::{
    arena::ArenaRing, caches::Caches, index::Index, layout::SAFE_LINKING, list_id::ListName,
    mmapped::Mmapped, par::Par, regions::Regions,
};
use crate::{
    Allocator, Block, BlockList, BlockSink, Depth, HeapHost, HeapIdentity, ListId, NativeHeap,
    Torn, Usage, Watch,
};

/// How it is found.
pub const ALLOCATOR: Allocator = Allocator { name: "glibc", detect: detect::detect };

/// The heap of one copy of glibc.
pub struct Glibc {
    identity: HeapIdentity,
    ring: ArenaRing,
    par: Option<Par>,
    /// The minor version, where its text tells.
    minor: Option<u32>,
    regions: OnceLock<Regions>,
    caches: OnceLock<Caches>,
    binned: OnceLock<Vec<(u64, ListId)>>,
    mmapped: OnceLock<Vec<Mmapped>>,
    index: OnceLock<Index>,
}

impl Glibc {
    fn regions(&self, host: &dyn HeapHost) -> &Regions {
        self.regions.get_or_init(|| regions::find(self, host))
    }

    fn caches(&self, host: &dyn HeapHost) -> &Caches {
        self.caches.get_or_init(|| caches::find(self, host))
    }

    fn mmapped(&self, host: &dyn HeapHost) -> &[Mmapped] {
        self.mmapped.get_or_init(|| mmapped::find(self, host))
    }

    /// The chunks in the bins of all arenas, and the bin of each, lowest first.
    fn binned(&self, host: &dyn HeapHost) -> &[(u64, ListId)] {
        self.binned.get_or_init(|| walk::binned(self, host))
    }

    fn name_of_arena(arena: u32) -> Arc<str> {
        if arena == 0 { "main".into() } else { arena.to_string().into() }
    }

    /// Whether a version may be this one's.
    fn may_be(&self, first: u32, last: u32) -> bool {
        match self.minor {
            Some(minor) => (first..=last).contains(&minor),
            None => first <= self.newest() && last >= self.oldest(),
        }
    }

    /// The oldest minor version that its structures allow.
    fn oldest(&self) -> u32 {
        self.ring.layout.first.max(self.par.map_or(0, |par| par.layout.first))
    }

    /// The newest one.
    fn newest(&self) -> u32 {
        self.ring.layout.last.min(self.par.map_or(u32::MAX, |par| par.layout.last))
    }

    /// Whether the links of lists are protected, where the version tells.
    fn is_protected(&self) -> Option<bool> {
        let (oldest, newest) =
            self.minor.map_or((self.oldest(), self.newest()), |minor| (minor, minor));
        match (oldest >= SAFE_LINKING, newest < SAFE_LINKING) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// Whether a chunk may lie at an address: in a region, or in the rest behind one.
    fn may_hold(&self, host: &dyn HeapHost, at: u64) -> bool {
        self.regions(host).at(at).is_some()
    }

    /// The parts of a range in which no arena has memory.
    fn outside_of_regions(&self, host: &dyn HeapHost, range: AddrRange) -> Vec<AddrRange> {
        let mut parts = Vec::new();
        let mut at = range.start.get();
        for taken in self.regions(host).taken() {
            if taken.end.get() <= at || taken.start >= range.end {
                continue;
            }
            if at < taken.start.get() {
                parts.push(AddrRange::new(Addr::new(at), taken.start));
            }
            at = taken.end.get();
        }
        if at < range.end.get() {
            parts.push(AddrRange::new(Addr::new(at), range.end));
        }
        parts
    }
}

impl NativeHeap for Glibc {
    fn identity(&self) -> &HeapIdentity {
        &self.identity
    }

    fn ranges(&self, host: &dyn HeapHost) -> Vec<AddrRange> {
        let mapped = self
            .mmapped(host)
            .iter()
            .map(|it| AddrRange::new(Addr::new(it.start), Addr::new(it.end)));
        let regions = self.regions(host);
        let of_regions = regions.all.iter().zip(regions.taken());
        let of_regions = of_regions.map(|(region, taken)| {
            // The last block before a gap has the first word of the fence.
            let borrowed = if region.has_top { 0 } else { walk::BORROWED };
            AddrRange::new(taken.start, taken.end.saturating_add(borrowed))
        });
        let mut ranges: Vec<AddrRange> = of_regions.chain(mapped).collect();
        ranges.sort_unstable();
        ranges
    }

    fn own_ranges(&self, _host: &dyn HeapHost) -> Vec<AddrRange> {
        let arenas = self.ring.arenas.iter();
        arenas.map(|arena| AddrRange::with_len(arena.at, self.ring.layout.system_mem)).collect()
    }

    fn usage(&self, host: &dyn HeapHost, depth: Depth, watch: Watch<'_>) -> Option<Usage> {
        usage::of(self, host, depth, watch)
    }

    fn walk(&self, host: &dyn HeapHost, sink: &mut BlockSink<'_>) -> ControlFlow<()> {
        walk::walk(self, host, sink)
    }

    fn block_at(&self, host: &dyn HeapHost, at: Addr) -> Option<Block> {
        walk::block_at(self, host, at.get())
    }

    fn list(&self, list: ListId) -> BlockList {
        let unthreaded = |name: String| BlockList { name: name.into(), thread: None };
        match list_id::name_of(list) {
            Some(ListName::Tcache(cache, bin)) => {
                let cache = self.caches.get().and_then(|caches| caches.caches.get(cache));
                let thread = cache.and_then(|cache| cache.thread);
                BlockList { name: format!("tcache bin {bin}").into(), thread }
            }
            Some(ListName::Fast(index)) => unthreaded(format!("fast bin {index}")),
            Some(ListName::Bin(1)) => unthreaded("unsorted bin".to_owned()),
            Some(ListName::Bin(bin @ 2..64)) => unthreaded(format!("small bin {bin}")),
            Some(ListName::Bin(bin)) => unthreaded(format!("large bin {bin}")),
            Some(ListName::Top) => unthreaded("top".to_owned()),
            None => unthreaded("no list".to_owned()),
        }
    }

    fn arena_name(&self, arena: u32) -> Option<Arc<str>> {
        (self.ring.arenas.len() > arena as usize).then(|| Self::name_of_arena(arena))
    }

    fn arena_at(&self, at: Addr) -> Option<u32> {
        let index = self.ring.arenas.iter().position(|arena| arena.at == at)?;
        u32::try_from(index).ok()
    }

    fn check(
        &self,
        host: &dyn HeapHost,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
    ) -> Option<()> {
        check::check(self, host, watch, tell)
    }
}

#[cfg(test)]
mod tests;
