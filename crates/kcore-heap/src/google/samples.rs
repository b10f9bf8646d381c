//! The allocations that tcmalloc samples: each has a span of its own, which leads to what was asked for and the stack
//! (`SampledAllocation`, `StackTrace`).

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, AddressSpace, CodeAddr};

use super::heap::Google;
use super::map::EVERYWHERE;
use super::span::Content;
use crate::module_words::word;
use crate::{HeapHost, Sample, Samples, Watch};

/// From the sample: the small block that stands for it in its span, if it has one, and the bytes that were asked for
/// and given.
const PROXY: u64 = 32;
const REQUESTED: u64 = 40;
const GIVEN: u64 = 56;
/// Where its span begins.
const START: u64 = 96;
/// How many return addresses there are, and where they begin.
const DEPTH: u64 = 104;
const STACK: u64 = 112;
const MAX_DEPTH: u64 = 64;
const STEP: u64 = 4096;

/// A sampled allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sampled {
    /// A small block that tcmalloc has in place of the one that the program was given.
    pub(super) proxy: Option<Addr>,
    pub(super) requested: u64,
    /// Bytes that the program may use.
    pub(super) given: u64,
    at: Addr,
}

impl Sampled {
    /// The sample that lies at an address, of a span with these pages.
    pub(super) fn load(space: &dyn AddressSpace, at: Addr, pages: AddrRange) -> Option<Self> {
        let member = |offset: u64| space.read_word(at.checked_add(offset)?).ok();
        let (requested, given) = (member(REQUESTED)?, member(GIVEN)?);
        let is_its = member(START)? == pages.start.get() && member(DEPTH)? <= MAX_DEPTH;
        let is_whole = is_its && requested <= given && given <= pages.len();
        let proxy = Some(Addr::new(member(PROXY)?)).filter(|proxy| proxy.get() != 0);
        is_whole.then_some(Self { proxy, requested, given, at })
    }

    fn stack(&self, space: &dyn AddressSpace) -> Vec<CodeAddr> {
        let depth = word(space, self.at.saturating_add(DEPTH)).min(MAX_DEPTH);
        let slot = |index: u64| self.at.saturating_add(STACK).saturating_add(index << 3);
        let frames = (0..depth).map_while(|index| space.read_addr(slot(index)).ok());
        frames.map(CodeAddr::Return).collect()
    }
}

/// The small blocks that stand for sampled ones, lowest first.
pub(super) fn proxies(heap: &Google, space: &dyn AddressSpace) -> Vec<Addr> {
    let mut proxies = Vec::new();
    let _ = heap.each_span(space, EVERYWHERE, &mut |span| {
        if let Content::Sampled(at) = span.content {
            proxies.extend(Sampled::load(space, at, span.range).and_then(|it| it.proxy));
        }
        ControlFlow::Continue(())
    });
    proxies.sort_unstable();
    proxies
}

/// The sampled blocks that are in use; `None` where there are none.
pub(super) fn samples(heap: &Google, host: &dyn HeapHost, watch: Watch<'_>) -> Option<Samples> {
    let space = host.space();
    let (mut samples, mut seen) = (Vec::new(), 0_u64);
    let walked = heap.each_span(space, EVERYWHERE, &mut |span| {
        seen = seen.saturating_add(1);
        if let Content::Sampled(at) = span.content
            && let Some(sampled) = Sampled::load(space, at, span.range)
        {
            let stack = sampled.stack(space).into();
            samples.push(Sample { at: span.range.start, requested: sampled.requested, stack });
        }
        if seen.is_multiple_of(STEP) { watch(0, 0) } else { ControlFlow::Continue(()) }
    });
    walked.is_continue().then_some(())?;
    (!samples.is_empty()).then(|| Samples { period: period(host), samples })
}

/// One of so many bytes is sampled, where a symbol tells (`Parameters::profile_sampling_interval_`); 0 where none does.
fn period(host: &dyn HeapHost) -> u64 {
    let symbols =
        |module: &dyn crate::HeapModule| module.symbols_ending("26profile_sampling_interval_E");
    let mut symbols = host.modules().into_iter().flat_map(symbols);
    symbols.next().map_or(0, |(_, at, _)| word(host.space(), at))
}
