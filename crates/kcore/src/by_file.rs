//! What is read of files: modules that have one file share it.

use std::{
    collections::HashMap,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use kcore_mem::{Budget, Built};
use kcore_symbols::ModuleSymbols;
use kcore_unwind::Cfi;

/// The symbols of files.
pub type SymbolsByFile = ByFile<ModuleSymbols>;
/// The unwind information of files, each at one of the places where it is mapped.
pub type CfiByFile = ByFile<Cfi>;

type Loaded<T> = Arc<Built<Arc<T>>>;
/// The path of a file, and what file that was.
type FileKey = (PathBuf, Option<Stamp>);

/// What tells a file from another one that has its path later: device, inode, time of the last change in
/// seconds and nanoseconds, and bytes.
type Stamp = (u64, u64, i64, i64, u64);

/// What was read, by the path of the file, and by what file that was.
pub struct ByFile<T>(Mutex<HashMap<FileKey, Loaded<T>>>);

impl<T> Default for ByFile<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> ByFile<T> {
    /// What the file at `path` holds; `load` gives it where nobody asked before, or a command had to end meanwhile.
    pub fn get(&self, path: &Path, budget: &Budget, load: impl FnOnce() -> T) -> Arc<T> {
        let loaded = self.entry(path);
        loaded.get_or_build(budget, || Arc::new(load())).clone()
    }

    fn entry(&self, path: &Path) -> Loaded<T> {
        let mut paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paths.entry((path.to_owned(), stamp(path))).or_default().clone()
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let file = std::fs::metadata(path).ok()?;
    Some((file.dev(), file.ino(), file.mtime(), file.mtime_nsec(), file.len()))
}
