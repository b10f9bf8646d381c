//! The functions at code addresses, with their variables, that were read before: the stacks of many
//! threads share their code.

use std::sync::{Arc, RwLock};

use kcore_mem::Addr;
use kcore_symbols::Scopes;
use rustc_hash::FxHashMap;

/// Addresses that are remembered, at most.
const MAX_ENTRIES: usize = 1 << 12;

type CachedScopes = Option<Arc<Scopes>>;

/// An append-only store that readers share.
#[derive(Default)]
pub struct ScopesCache(RwLock<FxHashMap<Addr, CachedScopes>>);

impl ScopesCache {
    /// What is known of an address, else what `read` finds, which is remembered while there is room. Nothing is
    /// remembered, and nothing known, where `read` gives `None`: it did not come to its end.
    pub fn get(&self, at: Addr, read: impl FnOnce() -> Option<CachedScopes>) -> CachedScopes {
        let known = self.0.read().ok().and_then(|known| known.get(&at).cloned());
        if let Some(known) = known {
            return known;
        }
        let found = read()?;
        if let Ok(mut known) = self.0.write()
            && known.len() < MAX_ENTRIES
        {
            known.insert(at, found.clone());
        }
        found
    }
}
