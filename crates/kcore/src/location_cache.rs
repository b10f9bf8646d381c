//! Names of code addresses that were found before.

use std::sync::{Arc, RwLock};

use kcore_mem::CodeAddr;
use rustc_hash::FxHashMap;

use crate::Location;

/// Addresses that are remembered, at most.
const MAX_ENTRIES: usize = 1 << 18;

/// An append-only store that readers share.
#[derive(Default)]
pub struct LocationCache(RwLock<FxHashMap<CodeAddr, Arc<[Location]>>>);

impl LocationCache {
    /// What is known of an address.
    pub fn get(&self, at: CodeAddr) -> Option<Arc<[Location]>> {
        self.0.read().ok()?.get(&at).cloned()
    }

    /// Whether something is known of an address.
    pub fn knows(&self, at: CodeAddr) -> bool {
        self.0.read().is_ok_and(|known| known.contains_key(&at))
    }

    /// Remembers what was found, while there is room.
    pub fn put(&self, at: CodeAddr, found: Arc<[Location]>) {
        if let Ok(mut known) = self.0.write()
            && known.len() < MAX_ENTRIES
        {
            known.insert(at, found);
        }
    }
}
