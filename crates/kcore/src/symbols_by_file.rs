//! The symbols of files: modules that have one file share them.

use std::{
    collections::HashMap,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use kcore_symbols::ModuleSymbols;

type Loaded = Arc<OnceLock<Arc<ModuleSymbols>>>;

/// What tells a file from another one that has its path later: device, inode, time of the last change in
/// seconds and nanoseconds, and bytes.
type Stamp = (u64, u64, i64, i64, u64);

/// The symbols that were loaded, by the path of their file, and by what file that was.
#[derive(Default)]
pub struct SymbolsByFile(Mutex<HashMap<(PathBuf, Option<Stamp>), Loaded>>);

impl SymbolsByFile {
    /// The symbols of the file at `path`; `load` gives them where nobody asked before.
    pub fn get(&self, path: &Path, load: impl FnOnce() -> ModuleSymbols) -> Arc<ModuleSymbols> {
        let loaded = self.entry(path);
        loaded.get_or_init(|| Arc::new(load())).clone()
    }

    fn entry(&self, path: &Path) -> Loaded {
        let mut paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paths.entry((path.to_owned(), stamp(path))).or_default().clone()
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let file = std::fs::metadata(path).ok()?;
    Some((file.dev(), file.ino(), file.mtime(), file.mtime_nsec(), file.len()))
}
