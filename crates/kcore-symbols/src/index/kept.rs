//! Where the indexes of big modules are kept from one session to the next.

use std::sync::Arc;

use kcore_elf::{BuildId, Section};

use super::stored::Stored;
use crate::dwarf::{Files, Which};

/// Keeps bytes by names. It may lose them at any time.
pub trait IndexCache: Send + Sync {
    /// What is kept by that name.
    fn load(&self, name: &str) -> Option<Section>;

    /// Keeps bytes by that name, if it can.
    fn store(&self, name: &str, bytes: &[u8]);

    /// Bytes of debug information from which on an index is kept: those whose scan is felt.
    fn worth(&self) -> usize {
        100_000_000
    }
}

/// Where the index of a module is kept, and by which name.
pub struct IndexFile {
    cache: Arc<dyn IndexCache>,
    build_id: BuildId,
}

impl IndexFile {
    /// That of the file with this build-id.
    pub const fn new(cache: Arc<dyn IndexCache>, build_id: BuildId) -> Self {
        Self { cache, build_id }
    }

    /// What an index must be of to be used; `None` where none is kept: of little debug information, and
    /// of split units, which may be found today and missing tomorrow.
    pub fn key(&self, files: &Files) -> Option<Vec<u8>> {
        let all = [Which::Main, Which::Types, Which::Supplementary];
        let sizes = all.map(|which| files.units(which).map_or(0, |units| units.file.info_size()));
        let size = sizes.iter().fold(0_usize, |sum, size| sum.saturating_add(*size));
        let is_big = size >= self.cache.worth();
        if !is_big || files.splits().is_some_and(|splits| splits.count() > 0) {
            return None;
        }
        let mut key = self.build_id.as_bytes().to_vec();
        for size in sizes {
            key.extend_from_slice(&(size as u64).to_le_bytes());
        }
        Some(key)
    }

    /// The index that is kept, if it is whole.
    pub fn load(&self, key: &[u8]) -> Option<Stored> {
        Stored::read(&self.cache.load(&self.name())?, key)
    }

    /// Keeps an index.
    pub fn store(&self, bytes: &[u8]) {
        self.cache.store(&self.name(), bytes);
    }

    fn name(&self) -> String {
        format!("{}.names", self.build_id)
    }
}
