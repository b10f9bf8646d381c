//! The profile that jemalloc keeps in memory where it was built and started with `prof`.
//!
//! A sampled block has an extent of its own, whose descriptor leads to the context that allocated it (`prof_structs.h`).

use std::ops::ControlFlow;
use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, CodeAddr};
use rustc_hash::FxHashMap;

use super::extent::{Extent, ExtentState};
use super::heap::{Jemalloc, everywhere};
use crate::{HeapHost, Sample, Samples, Watch};

/// Frames of a stack, at most (`PROF_BT_MAX`).
const MAX_FRAMES: u64 = 128;
/// A descriptor's word of the context: this one stands for a block that was not sampled.
const NOT_SAMPLED: u64 = 1;
const STEP: usize = 4096;

/// What a descriptor says of a block that was sampled.
pub(super) struct OfExtent {
    pub(super) context: Addr,
    pub(super) requested: Option<u64>,
}

/// What the descriptor of a large extent says, if its block was sampled. A block that is cached keeps what was said of it
/// when it was in use.
pub(super) fn of_extent(heap: &Jemalloc, extent: &Extent) -> Option<OfExtent> {
    let profile = heap.tree.layout.profile;
    if extent.is_slab || extent.state != ExtentState::Active {
        return None;
    }
    let context = extent
        .word(profile.context)
        .filter(|word| *word > NOT_SAMPLED && word.is_multiple_of(8))?;
    let requested = profile.requested.and_then(|offset| extent.word(offset));
    Some(OfExtent { context: Addr::new(context), requested })
}

/// The sampled blocks that are in use. A context that does not say as many as there are is left out: it is none.
pub(super) fn samples(heap: &Jemalloc, host: &dyn HeapHost, watch: Watch<'_>) -> Option<Samples> {
    let mut by_context: FxHashMap<Addr, Vec<(Addr, u64)>> = FxHashMap::default();
    let mut seen = 0_usize;
    let walked = heap.each_extent(host, everywhere(), &mut |described| {
        seen = seen.saturating_add(1);
        let extent = &described.extent;
        let is_cached =
            || heap.caches(host).within(extent.pages).iter().any(|block| block.at == extent.at);
        if let Some(of) = of_extent(heap, extent).filter(|_| !is_cached()) {
            let bytes =
                of.requested.filter(|bytes| *bytes <= described.size).unwrap_or(described.size);
            by_context.entry(of.context).or_default().push((extent.at, bytes));
        }
        if seen.is_multiple_of(STEP) { watch(0, 0) } else { ControlFlow::Continue(()) }
    });
    walked.is_continue().then_some(())?;
    let mut samples = Vec::new();
    for (context, blocks) in by_context {
        let Some(stack) = stack(heap, host.space(), context, blocks.len() as u64) else { continue };
        let stack: Arc<[CodeAddr]> = stack.into();
        let of = |(at, requested)| Sample { at, requested, stack: Arc::clone(&stack) };
        samples.extend(blocks.into_iter().map(of));
    }
    let period = if samples.is_empty() { 0 } else { period(host) };
    (!samples.is_empty()).then_some(Samples { period, samples })
}

/// The stack of a context that says that so many of its blocks are in use.
fn stack(
    heap: &Jemalloc,
    space: &dyn AddressSpace,
    context: Addr,
    live: u64,
) -> Option<Vec<CodeAddr>> {
    let profile = heap.tree.layout.profile;
    let says = space.read_word(context.checked_add(profile.live)?).ok()?;
    let stack =
        space.read_addr(context.checked_add(profile.stack)?).ok().filter(|_| says == live)?;
    let addresses = space.read_addr(stack.checked_add(profile.addresses)?).ok()?;
    let count = space.read_uint(stack.checked_add(profile.addresses)?.checked_add(8)?, 4).ok()?;
    let slots = (0..count.min(MAX_FRAMES)).map(|index| addresses.saturating_add(index << 3));
    slots.map(|slot| space.read_addr(slot).ok().map(CodeAddr::Return)).collect()
}

/// One of so many bytes is sampled: `lg_prof_sample`, where a symbol tells; 0 where none does.
fn period(host: &dyn HeapHost) -> u64 {
    let symbols =
        || host.modules().into_iter().flat_map(|module| module.symbols_ending("lg_prof_sample"));
    let lg = symbols()
        .filter(|(name, ..)| !name.contains("opt_"))
        .find_map(|(_, at, _)| host.space().read_word(at).ok());
    lg.filter(|lg| *lg < 63).map_or(0, |lg| 1_u64.wrapping_shl(lg as u32))
}
