//! Types whose tables of virtual functions were asked for before.

use std::sync::RwLock;

use kcore_mem::{Addr, Budget};
use kcore_symbols::Type;
use rustc_hash::FxHashMap;

/// Tables that are remembered, at most.
const MAX_ENTRIES: usize = 1 << 16;

/// An append-only store that readers share. That an address is in no table is remembered as well: every
/// object of a type is asked.
#[derive(Default)]
pub struct VtableCache(RwLock<FxHashMap<Addr, Option<Type>>>);

impl VtableCache {
    /// What is known of an address; `find` says what is not known yet. Nothing is remembered when the command has to
    /// end: `find` may not have come to its end.
    pub fn get(
        &self,
        at: Addr,
        budget: &Budget,
        find: impl FnOnce() -> Option<Type>,
    ) -> Option<Type> {
        if let Some(known) = self.0.read().ok().and_then(|known| known.get(&at).cloned()) {
            return known;
        }
        let found = find();
        if budget.is_halted() {
            return found;
        }
        if let Ok(mut known) = self.0.write()
            && known.len() < MAX_ENTRIES
        {
            known.insert(at, found.clone());
        }
        found
    }
}
