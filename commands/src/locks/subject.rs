//! A lock by its place: its symbol, the stack that it lies on, or the object of a language that it is a part of.

use kcore::Addr;

use crate::names::Names;

/// `name (0x…)`, `0x… (on the stack of thread N)`, `0x… (in an object of a language)` or the address alone.
pub fn spelled(names: &Names<'_>, at: Addr) -> String {
    let symbol = names.at(at).filter(|symbol| !symbol.nearest).and_then(|_| names.spelled(at));
    if let Some(symbol) = symbol {
        return format!("{symbol} ({at})");
    }
    // A thread of Go may stand on a goroutine's stack, which lies in one mapping with the heap.
    let what = names.core().memory().whatis(at);
    match (what.thread, what.object) {
        (Some(tid), _) => format!("{at} (on the stack of thread {tid})"),
        (None, Some(object)) => format!("{at} (in {object})"),
        (None, None) => at.to_string(),
    }
}
