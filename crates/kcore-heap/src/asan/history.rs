//! Who allocated blocks, and who freed them: what headers say, in threads of the process and in addresses of code.

use std::ops::ControlFlow;
use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, CodeAddr};
use rustc_hash::FxHashMap;

use super::chunk::{self, Chunk, Context};
use super::depot::Depot;
use super::heap::Asan;
use super::threads::Threads;
use crate::{Block, BlockEvent, BlockEventKind, HeapHost, Sample, Samples, Watch, words::Words};

/// Stacks by which the depot is found.
const PROBES: usize = 8;
/// Chunks in which these stacks are looked for, at most.
const MAX_PROBED: usize = 1 << 16;
/// Chunks between two looks at whoever watches.
const STEP: u64 = 1 << 14;

/// What the runtime notes beside its heap.
pub(super) struct Notes {
    /// Its stacks; `None` where they were not found.
    depot: Option<Depot>,
    /// Its threads.
    threads: Threads,
}

/// All addresses.
pub(super) const fn everywhere() -> AddrRange {
    AddrRange::new(Addr::new(0), Addr::new(u64::MAX))
}

impl Notes {
    fn find(heap: &Asan, host: &dyn HeapHost) -> Self {
        let probes = probes(heap, host);
        let depot = Depot::find(host, &heap.data, &probes);
        Self { depot, threads: Threads::find(host, &heap.data) }
    }

    fn event(&self, words: &mut Words<'_>, kind: BlockEventKind, context: Context) -> BlockEvent {
        let depot = self.depot.as_ref();
        BlockEvent {
            kind,
            number: context.thread,
            thread: self.threads.tid(context.thread),
            stack: depot.and_then(|depot| depot.stack(words, context.stack)),
        }
    }
}

/// Numbers of some stacks that headers name.
fn probes(heap: &Asan, host: &dyn HeapHost) -> Vec<u32> {
    let (mut words, mut found, mut seen) = (Words::new(host.space()), Vec::new(), 0_usize);
    // It ends when there are enough.
    let _ = heap.each_extent(
        host,
        everywhere(),
        &mut |extent| {
            seen = seen.saturating_add(1);
            if let Some(Chunk::Held { allocated, .. }) =
                chunk::read(&mut words, extent.start, extent.end)
                && !found.contains(&allocated.stack)
            {
                found.push(allocated.stack);
            }
            match found.len() >= PROBES || seen >= MAX_PROBED {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        },
        &mut |_| {},
    );
    found
}

/// What is noted of a block.
pub(super) fn of_block(heap: &Asan, host: &dyn HeapHost, block: &Block) -> Vec<BlockEvent> {
    let notes = heap.stacks.get_or_init(|| Notes::find(heap, host));
    let mut words = Words::new(host.space());
    let header = block.at.get().saturating_sub(chunk::HEADER);
    let Some(Chunk::Held { allocated, freed, .. }) =
        chunk::read(&mut words, header, block.whole.end.get())
    else {
        return Vec::new();
    };
    let mut events = vec![notes.event(&mut words, BlockEventKind::Allocated, allocated)];
    events.extend(freed.map(|freed| notes.event(&mut words, BlockEventKind::Freed, freed)));
    events
}

/// All blocks in use with the stacks that allocated them; `None` where the stacks are not found, or whoever watches
/// stopped it.
pub(super) fn samples(heap: &Asan, host: &dyn HeapHost, watch: Watch<'_>) -> Option<Samples> {
    let notes = heap.stacks.get_or_init(|| Notes::find(heap, host));
    let depot = notes.depot.as_ref()?;
    let mut words = Words::new(host.space());
    let mut stacks: FxHashMap<u32, Arc<[CodeAddr]>> = FxHashMap::default();
    let (mut samples, mut seen) = (Vec::new(), 0_u64);
    let walked = heap.each_extent(
        host,
        everywhere(),
        &mut |extent| {
            seen = seen.saturating_add(1);
            if let Some(Chunk::Held { at, requested, allocated, freed: None }) =
                chunk::read(&mut words, extent.start, extent.end)
            {
                let stack = stacks.entry(allocated.stack).or_insert_with(|| {
                    depot.stack(&mut words, allocated.stack).unwrap_or_default().into()
                });
                samples.push(Sample { at: Addr::new(at), requested, stack: Arc::clone(stack) });
            }
            match seen.is_multiple_of(STEP) {
                true => watch(0, 0),
                false => ControlFlow::Continue(()),
            }
        },
        &mut |_| {},
    );
    walked.is_continue().then_some(Samples { period: Samples::ALL, samples })
}
