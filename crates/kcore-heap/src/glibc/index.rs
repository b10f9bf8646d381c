//! Where chunks begin, so that the one that holds an address is found without a walk from the beginning of its region.

use kcore_parallel::prelude::*;

use super::{
    Glibc,
    chunk::{Chain, ChainEnd, FENCE, FLAGS, MIN_SIZE, Region},
};
use crate::{HeapHost, words::Words};

/// Bytes between two chunks that are remembered.
const STEP: u64 = 1 << 16;
/// Bytes behind a torn chunk in which the next whole one is looked for.
const MAX_TORN: u64 = 64 << 20;
/// Chunks one behind the other that are no accident.
const SURE: usize = 24;

/// Chunks of all regions at about equal distances.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// For each region, the first chunk at or behind the beginning of each step; lowest first.
    regions: Vec<Vec<u64>>,
    starts: Vec<u64>,
}

impl Glibc {
    /// The index, made when it is first asked for.
    pub fn index(&self, host: &dyn HeapHost) -> &Index {
        self.index.get_or_init(|| {
            let regions = &self.regions(host).all;
            let chunks = regions.par_iter().map(|region| chunks_of(self, host, region)).collect();
            Index { regions: chunks, starts: regions.iter().map(|region| region.start).collect() }
        })
    }
}

impl Index {
    /// The last remembered chunk of a region at or before an address.
    pub fn chunk_before(&self, region: &Region, at: u64) -> u64 {
        let chunks =
            self.starts.binary_search(&region.start).ok().and_then(|index| self.regions.get(index));
        let chunks = chunks.map(Vec::as_slice).unwrap_or_default();
        let before = chunks.partition_point(|chunk| *chunk <= at).checked_sub(1);
        before.and_then(|before| chunks.get(before)).copied().unwrap_or(region.start)
    }
}

fn chunks_of(heap: &Glibc, host: &dyn HeapHost, region: &Region) -> Vec<u64> {
    let mut chunks = vec![region.start];
    let mut next = region.start.saturating_add(STEP);
    let mut at = region.start;
    loop {
        let mut chain = Chain::new(Words::new(host.space()), at, region);
        for chunk in chain.by_ref() {
            if chunk.at >= next {
                chunks.push(chunk.at);
                next = chunk.at.saturating_add(STEP);
            }
        }
        let torn = match chain.ended() {
            Some(ChainEnd::Torn(at, _) | ChainEnd::Missing(at)) => at,
            Some(ChainEnd::Fence(at)) if region.has_top => at,
            _ => return chunks,
        };
        let Some(whole) = resync(heap, host, region, torn) else { return chunks };
        chunks.push(whole);
        (at, next) = (whole, whole.saturating_add(STEP));
    }
}

/// The first chunk behind a torn one from which many others follow, or the end of the region. A chunk of a list is one for
/// certain.
pub fn resync(heap: &Glibc, host: &dyn HeapHost, region: &Region, torn: u64) -> Option<u64> {
    let mut words = Words::new(host.space());
    let limit = region.end.min(torn.saturating_add(MAX_TORN));
    let cached = &heap.caches(host).chunks;
    let mut at = torn.saturating_add(FENCE);
    while at < limit {
        let Some(word) = words.word(at.wrapping_add(8)) else {
            // What is missing is missing by pages.
            at = at.saturating_add(1).next_multiple_of(4096);
            continue;
        };
        let size = word & !FLAGS;
        let may_be = word & 8 == 0 && size >= MIN_SIZE && size <= region.end.wrapping_sub(at);
        let is_cached = || cached.binary_search_by_key(&at, |(chunk, _)| *chunk).is_ok();
        if may_be && (is_cached() || is_chain(host, region, at)) {
            return Some(at);
        }
        at = at.saturating_add(16);
    }
    None
}

fn is_chain(host: &dyn HeapHost, region: &Region, at: u64) -> bool {
    let mut chain = Chain::new(Words::new(host.space()), at, region);
    let count = chain.by_ref().take(SURE).count();
    count >= SURE || (count > 0 && chain.ended() == Some(ChainEnd::Done))
}
