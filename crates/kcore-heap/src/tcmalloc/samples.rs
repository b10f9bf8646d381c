//! The allocations that tcmalloc samples where `TCMALLOC_SAMPLE_PARAMETER` is set: each has a span of its own, which leads
//! to the size that was asked for and the stack (`StackTrace` of `common.h`).

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, AddressSpace, CodeAddr};

use super::heap::Tcmalloc;
use super::span::{Location, Span};
use crate::module_words::word;
use crate::{HeapHost, Sample, Samples, Watch};

const DEPTH: u64 = 8;
const STACK: u64 = 16;
const MAX_DEPTH: u64 = 31;
const STEP: u64 = 4096;

/// Bytes that were asked for in a sampled span.
pub(super) fn requested(space: &dyn AddressSpace, span: &Span) -> Option<u64> {
    let is_sampled = span.is_sampled && span.class == 0 && span.location == Location::InUse;
    let size = space.read_word(span.objects).ok().filter(|_| is_sampled)?;
    let depth = space.read_word(span.objects.checked_add(DEPTH)?).ok()?;
    (size <= span.range.len() && depth <= MAX_DEPTH).then_some(size)
}

/// The sampled blocks that are in use; `None` where there are none.
pub(super) fn samples(heap: &Tcmalloc, host: &dyn HeapHost, watch: Watch<'_>) -> Option<Samples> {
    let space = host.space();
    let (mut samples, mut seen) = (Vec::new(), 0_u64);
    let everywhere = AddrRange::new(Addr::new(0), Addr::new(u64::MAX));
    let walked = heap.map.each_span(space, everywhere, &mut |span| {
        seen = seen.saturating_add(1);
        if let Some(requested) = requested(space, &span) {
            samples.push(Sample {
                at: span.range.start,
                requested,
                stack: stack(space, span.objects).into(),
            });
        }
        if seen.is_multiple_of(STEP) { watch(0, 0) } else { ControlFlow::Continue(()) }
    });
    walked.is_continue().then_some(())?;
    (!samples.is_empty()).then(|| Samples { period: period(host), samples })
}

fn stack(space: &dyn AddressSpace, trace: Addr) -> Vec<CodeAddr> {
    let depth = word(space, trace.saturating_add(DEPTH)).min(MAX_DEPTH);
    let slot = |index: u64| trace.saturating_add(STACK).saturating_add(index << 3);
    (0..depth).map_while(|index| space.read_addr(slot(index)).ok()).map(CodeAddr::Return).collect()
}

/// One of so many bytes is sampled, where a symbol tells; 0 where none does.
fn period(host: &dyn HeapHost) -> u64 {
    let flag = "FLAGS_tcmalloc_sample_parameter";
    let symbols = || {
        host.modules()
            .into_iter()
            .flat_map(|module| module.symbols_ending("tcmalloc_sample_parameterE"))
    };
    let exported = || host.modules().into_iter().find_map(|module| module.exported(flag));
    let by_suffix = symbols().map(|(_, at, _)| at).next();
    by_suffix.or_else(|| exported().map(|(at, _)| at)).map_or(0, |at| word(host.space(), at))
}
