//! The symbol of an address by a look at all of them, without an order.

use std::sync::atomic::Ordering::Relaxed;

use kcore_mem::{Svma, Watch};

use super::SymbolTable;
use crate::{
    preference::compare,
    symbol::{SymbolId, SymbolRef},
};

/// Addresses that are searched for among all symbols. To look at all is 30 times as fast as to order them.
const MAX_SEARCHES: u32 = 16;

impl SymbolTable {
    /// The answer without an order, for the first few addresses that need more than what begins near
    /// them, such as those behind a label in a routine of an assembler: the sized symbol that begins
    /// last of those that reach the address, or else what has no size, if no sized one hides it.
    pub(super) fn find_among_all(&self, svma: Svma) -> Option<SymbolRef<'_>> {
        let has_order = self.order.get().is_some();
        (!has_order && self.searches.fetch_add(1, Relaxed) < MAX_SEARCHES).then_some(())?;
        let here = self.last_before(svma.get())?;
        let start = self.start(*here.first()?);
        let (mut covering, mut hides): (Option<SymbolRef<'_>>, bool) = (None, false);
        let mut watch = Watch::new(&self.budget);
        for (_, id) in self.placed(0) {
            if watch.is_over() {
                return None;
            }
            let Some(symbol) = self.get(SymbolId(id)).filter(|symbol| symbol.size() > 0) else {
                continue;
            };
            let span = symbol.value().get()..symbol.value().get().saturating_add(symbol.size());
            hides |= span.contains(&start);
            if span.contains(&svma.get())
                && covering.is_none_or(|best| self.is_better(symbol, best))
            {
                covering = Some(symbol);
            }
        }
        let without_size = || {
            let here = here.iter().filter_map(|id| self.get(SymbolId(*id)));
            let here = here.filter(|symbol| svma.get() < self.reach(symbol.entry));
            here.max_by(|a, b| compare(&self.names, a.entry, b.entry)).filter(|_| !hides)
        };
        covering.or_else(without_size)
    }

    /// Whether of two symbols that cover an address the first is the one to show.
    fn is_better(&self, symbol: SymbolRef<'_>, than: SymbolRef<'_>) -> bool {
        let by_start = symbol.value().cmp(&than.value());
        by_start.then_with(|| compare(&self.names, symbol.entry, than.entry)).is_gt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RawSymbol;
    use kcore_elf::SymbolKind;
    use kcore_mem::Budget;

    /// Functions that overlap at random, of which every third has no size.
    fn overlapping() -> SymbolTable {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let symbols = (0..300).map(|index| RawSymbol {
            index,
            name: format!("{}f{}", "_".repeat(random(3) as usize), random(50)).into_bytes(),
            value: Svma::new(random(400) * 4),
            size: if index % 3 == 0 { 0 } else { random(40) + 1 },
            kind: SymbolKind::Function,
            binding: kcore_elf::SymbolBinding::Global,
            other: 0,
            section: 1,
        });
        SymbolTable::from_raw(symbols.collect())
    }

    #[test]
    fn a_search_of_all_agrees_with_the_order() {
        let mut told = 0;
        for at in (0..1700).map(Svma::new) {
            // A new table: its searches are counted.
            let found = overlapping().find_among_all(at).map(|symbol| symbol.id());
            let ordered = overlapping().find_covering(at).map(|symbol| symbol.id());
            assert!(found.is_none() || found == ordered, "{at:?}: {found:?} and {ordered:?}");
            told += usize::from(found.is_some());
        }
        assert!(told > 1000, "only {told}");
    }

    #[test]
    fn an_order_that_was_halted_is_made_by_the_next_command() {
        let symbol = |at: u32| RawSymbol {
            index: at,
            name: b"f".to_vec(),
            value: Svma::new(u64::from(at ^ 0x155)),
            size: 0,
            kind: SymbolKind::Function,
            binding: kcore_elf::SymbolBinding::Global,
            other: 0,
            section: 1,
        };
        let budget = Budget::default();
        let table = SymbolTable::from_raw((0..300_000).map(symbol).collect());
        let table = SymbolTable { budget: budget.clone(), ..table };
        let interrupt = |on| budget.interrupt().store(on, std::sync::atomic::Ordering::SeqCst);
        let before = |at| Some(table.find_before(Svma::new(at))?.value().get());
        interrupt(true);
        assert_eq!((before(77), table.get(SymbolId(0)).unwrap().extent()), (None, 0));
        interrupt(false);
        assert_eq!((before(77), table.get(SymbolId(0)).unwrap().extent()), (Some(77), 1));
    }
}
