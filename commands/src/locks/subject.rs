//! A lock by its place: its symbol, or the stack that it lies on.

use kcore::Addr;

use crate::names::Names;

/// `name (0x…)`, `0x… (on the stack of thread N)` or the address alone.
pub fn spelled(names: &Names<'_>, at: Addr) -> String {
    let symbol = names.at(at).filter(|symbol| !symbol.nearest).and_then(|_| names.spelled(at));
    let thread = || names.core().stacks().thread_at(at);
    match symbol {
        Some(symbol) => format!("{symbol} ({at})"),
        None => match thread() {
            Some(tid) => format!("{at} (on the stack of thread {tid})"),
            None => at.to_string(),
        },
    }
}
