//! `mp_`, which has what is no arena's: the mmapped chunks, and where the main heap begins.

use std::ops::RangeInclusive;

use kcore_mem::{Addr, AddrRange};

use super::layout::{PARS, ParLayout};
use crate::{HeapHost, words::Words};

/// Largest threshold for mmap that glibc sets itself (`HEAP_MAX_SIZE / 2`), and the one below which programs never go.
const THRESHOLDS: RangeInclusive<u64> = 1..=(1 << 40);
const PAGE: u64 = 4096;

/// What `mp_` holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Par {
    /// Where it lies.
    pub at: Addr,
    /// Its layout.
    pub layout: &'static ParLayout,
    /// `n_mmaps`.
    pub mmaps: u64,
    /// `mmapped_mem`.
    pub mmapped: u64,
    /// `sbrk_base`; 0 where nothing was taken from the system yet.
    pub sbrk_base: u64,
    /// `tcache_count`, where there are thread caches.
    pub tcache_count: Option<u64>,
}

/// Looks for it in the parts of the segment that has the main arena. `versions` are the minor versions that it may be of.
/// Of several it takes the one nearest to the main arena, which the same file defines: two at the same place are the same
/// words read by two layouts, and the later layout asks for more.
pub fn find(
    host: &dyn HeapHost,
    parts: &[AddrRange],
    versions: RangeInclusive<u32>,
    main: Addr,
) -> Option<Par> {
    let mut words = Words::new(host.space());
    let fits = |layout: &&'static ParLayout| {
        layout.first <= *versions.end() && layout.last >= *versions.start()
    };
    let layouts: Vec<&'static ParLayout> = PARS.iter().filter(fits).collect();
    let distance =
        |par: &Par| (par.at.get().abs_diff(main.get()), std::cmp::Reverse(par.layout.first));
    let mut best: Option<Par> = None;
    for part in parts {
        let mut at = part.start.get().next_multiple_of(8);
        while at < part.end.get() {
            let found = layouts.iter().filter_map(|layout| par_at(host, &mut words, at, layout));
            best = found.chain(best).min_by_key(distance);
            at = at.saturating_add(8);
        }
    }
    best
}

fn par_at(
    host: &dyn HeapHost,
    words: &mut Words<'_>,
    at: u64,
    layout: &'static ParLayout,
) -> Option<Par> {
    let mut member = |offset: u64| words.word(at.wrapping_add(offset));
    let (trim, threshold) = (member(0)?, member(16)?);
    let counts = (member(layout.n_mmaps)?, member(layout.n_mmaps.wrapping_add(8))?);
    let (mmaps, mmaps_max) = (counts.0 & 0xffff_ffff, counts.0 >> 32);
    let (max_mmaps, no_dynamic) = (counts.1 & 0xffff_ffff, counts.1 >> 32);
    let (mmapped, max_mmapped) =
        (member(layout.mmapped_mem)?, member(layout.mmapped_mem.wrapping_add(8))?);
    let sbrk_base = member(layout.sbrk_base)?;
    let counts_fit = mmaps <= max_mmaps && max_mmaps <= mmaps_max.max(max_mmaps) && mmaps_max > 0;
    let sizes_fit = mmapped % PAGE == 0
        && mmapped <= max_mmapped.max(mmapped)
        && (mmaps == 0) == (mmapped == 0);
    // malloc doubles both together; mallopt may set each.
    let thresholds_fit = THRESHOLDS.contains(&threshold) && trim >= threshold / 2 && trim >= PAGE;
    if !(counts_fit && sizes_fit && thresholds_fit && no_dynamic <= 1 && mmaps_max <= 0x7fff_ffff) {
        return None;
    }
    let tcache_count = match layout.tcache {
        Some(tcache) => Some(tcache_count(&mut member, tcache)?),
        None => None,
    };
    let base_fits = sbrk_base == 0 || is_heap(host, sbrk_base);
    base_fits.then(|| Par { at: Addr::new(at), layout, mmaps, mmapped, sbrk_base, tcache_count })
}

/// Thread caches have some tens of bins, and each of them a few blocks.
fn tcache_count(member: &mut impl FnMut(u64) -> Option<u64>, tcache: u64) -> Option<u64> {
    let (bins, max_bytes) = (member(tcache)?, member(tcache.wrapping_add(8))?);
    let count = member(tcache.wrapping_add(16))?;
    (bins <= 128 && bins > 0 && max_bytes <= 8 << 20 && count <= 0xffff).then_some(count)
}

/// Whether the main heap may begin at an address: in writable memory that is no file's.
fn is_heap(host: &dyn HeapHost, at: u64) -> bool {
    let mapping = host.mapping_at(Addr::new(at));
    at.is_multiple_of(8) && mapping.is_some_and(|mapping| mapping.writable && !mapping.is_file)
}
