//! What allocators sampled themselves, as a heap profile.

use std::sync::Arc;

use kcore_heap::{HeapNumber, Watch};
use kcore_mem::CodeAddr;
use kcore_profile::{HeapProfile, InUse};
use rustc_hash::FxHashMap;

use super::HeapView;
use crate::live::frame_of;

impl HeapView<'_> {
    /// What is in use of a heap by the stacks that allocated it, with the names of functions, files and lines; `None` where
    /// the allocator keeps no profile, or whoever watches stopped it. Each sample stands for as many blocks as the
    /// allocator's own tools count for it.
    pub fn profile(&self, heap: HeapNumber, watch: Watch<'_>) -> Option<HeapProfile> {
        let samples = self.samples(heap, watch)?;
        let mut by_stack: FxHashMap<&Arc<[CodeAddr]>, InUse> = FxHashMap::default();
        for sample in &samples.samples {
            let blocks = samples.weight(sample.requested);
            let in_use = InUse { blocks, bytes: blocks * sample.requested as f64 };
            let sum = by_stack.entry(&sample.stack).or_default();
            *sum = sum.plus(in_use);
        }
        let mut stacks: Vec<_> = by_stack.into_iter().collect();
        stacks
            .sort_by_cached_key(|(stack, _)| stack.iter().map(|pc| pc.addr()).collect::<Vec<_>>());
        let mut profile = HeapProfile::new(samples.period);
        for (stack, in_use) in stacks {
            watch(0, 0).is_continue().then_some(())?;
            let locations = stack.iter().map(|pc| self.core.symbols().locations(*pc));
            let frames = locations.flat_map(|it| it.iter().map(frame_of).collect::<Vec<_>>());
            profile.add(frames.collect(), in_use);
        }
        Some(profile)
    }
}
