//! Choosing objects by their maps.

use kcore_mem::Addr;
use kcore_parallel::prelude::*;
use rustc_hash::FxHashSet;

use super::{Census, MapCount, Stopped, Watch};
use crate::v8::Heap;

/// Areas between two looks at the user.
const STEP: usize = 256;

impl Census {
    /// The objects, lowest first, of those maps that are wanted.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub(super) fn select(
        &self,
        heap: &Heap<'_>,
        is_wanted: impl Fn(&MapCount) -> bool,
        watch: Watch<'_>,
    ) -> Result<Vec<Addr>, Stopped> {
        let wanted = self.maps.iter().filter(|map| is_wanted(map));
        let words: FxHashSet<u64> = wanted.map(|map| map.map.get() | 1).collect();
        let is_one = |at: &Addr| heap.word(*at, 0).is_some_and(|word| words.contains(&word));
        let mut found = Vec::new();
        for (step, areas) in self.areas.chunks(STEP).enumerate().filter(|_| !words.is_empty()) {
            let parts: Vec<Vec<Addr>> =
                areas.par_iter().map(|area| area.starts.iter().filter(is_one).collect()).collect();
            found.extend(parts.into_iter().flatten());
            let done = step.saturating_add(1).saturating_mul(STEP).min(self.areas.len());
            if watch(done as u64, self.areas.len() as u64).is_break() {
                return Err(Stopped);
            }
        }
        Ok(found)
    }
}
