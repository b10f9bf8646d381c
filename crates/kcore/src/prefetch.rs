//! Reads the names of a stack's frames module by module at the same time: each module has symbols and
//! debug information of its own, and reading those is what a first stack takes longest for.

use kcore_mem::CodeAddr;
use kcore_parallel::prelude::*;
use kcore_unwind::Frame;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Core;

/// Frames that are looked at: of a deeper stack, the others repeat these.
const MAX_FRAMES: usize = 512;

impl Core {
    /// Makes the locations of frames known. What is found does not depend on who finds it, so only
    /// the time that it takes is another.
    pub(crate) fn prefetch_locations(&self, frames: &[Frame]) {
        let mut modules: FxHashMap<usize, Vec<CodeAddr>> = FxHashMap::default();
        let mut seen = FxHashSet::default();
        for frame in frames.iter().take(MAX_FRAMES) {
            if seen.insert(frame.pc)
                && !self.locations.knows(frame.pc)
                && let Some(module) = self.modules().index_at(frame.pc.lookup())
            {
                modules.entry(module).or_default().push(frame.pc);
            }
        }
        if modules.len() > 1 {
            Vec::from_iter(modules.into_values()).into_par_iter().for_each(|pcs| {
                for pc in pcs {
                    self.symbols().locations(pc);
                }
            });
        }
    }
}
