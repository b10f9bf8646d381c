//! Where `runtime.mheap_` lies: by its symbol, or by a search of the module's data for its list of spans, which
//! proves itself.

use kcore_mem::{Addr, AddressSpace};

use super::{layout::HeapLayout, size_class::PAGE};
use crate::{
    Host,
    go::{Go, roots},
};

const SYMBOL: &str = "runtime.mheap_";
/// Fields of a `runtime.mspan`.
const START: u64 = 24;
const PAGES: u64 = 32;
/// The generation of the sweep lies before the list.
const GENERATION: u64 = 8;
/// First spans that must prove themselves.
const PROVEN: u64 = 8;
/// Bytes of a `runtime.mspan`, at least.
const SPAN: u64 = 144;
const MAX_PAGES: u64 = 1 << 30;

/// `runtime.mheap_` of the module, or of the one whose runtime it uses.
pub fn find(go: &Go, host: &dyn Host, layout: &HeapLayout) -> Option<Addr> {
    let module = host.module_at(go.tables.text.start)?;
    if let Some(at) = roots::symbol(module, SYMBOL) {
        return Some(at);
    }
    let space = host.space();
    let is_list = |at: Addr| proves_itself(space, at).unwrap_or_default();
    let list = roots::search_zeros(host, module, &is_list)?;
    list.get().checked_sub(layout.all_spans).map(Addr::new)
}

/// Whether a slice of spans lies at an address.
fn proves_itself(space: &dyn AddressSpace, at: Addr) -> Option<bool> {
    let word = |at: Addr, offset: u64| space.read_word(at.checked_add(offset)?).ok();
    let (start, len, capacity) = (word(at, 0)?, word(at, 8)?, word(at, 16)?);
    let is_slice = start != 0 && start.is_multiple_of(8) && len >= PROVEN && len <= capacity;
    let is_even = generation(space, at)?.is_multiple_of(2);
    (is_slice && is_even).then_some(())?;
    let mut spans = (0..PROVEN).map(|number| {
        let span = Addr::new(word(Addr::new(start), number.checked_mul(8)?)?);
        let (first, pages) = (word(span, START)?, word(span, PAGES)?);
        let is_one = first != 0 && first.is_multiple_of(PAGE) && (1..MAX_PAGES).contains(&pages);
        is_one.then_some(())
    });
    Some(spans.all(|proof| proof.is_some()))
}

/// Which sweep the heap is at, by what lies before its list of spans.
pub fn generation(space: &dyn AddressSpace, list: Addr) -> Option<u32> {
    let at = Addr::new(list.get().checked_sub(GENERATION)?);
    u32::try_from(space.read_uint(at, 4).ok()?).ok()
}

/// All spans of a list, in memory that holds so many bytes.
///
/// # Errors
/// In words, where the list cannot be read.
pub fn spans(space: &dyn AddressSpace, list: Addr, held: u64) -> Result<Vec<Addr>, String> {
    let word = |offset: u64| {
        space
            .read_word(list.saturating_add(offset))
            .map_err(|fault| format!("the list of the heap's spans cannot be read: {fault}"))
    };
    let (first, count) = (Addr::new(word(0)?), word(8)?);
    if count > held / SPAN {
        return Err(format!("the heap claims to have {count} spans"));
    }
    let mut spans = Vec::new();
    for number in 0..count {
        let at = first.saturating_add(number.saturating_mul(8));
        let span = space
            .read_addr(at)
            .map_err(|fault| format!("the list of the heap's spans is not whole: {fault}"))?;
        spans.push(span);
    }
    Ok(spans)
}
