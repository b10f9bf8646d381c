//! The symbols of files: modules that have one file share them.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use kcore_symbols::ModuleSymbols;

type Loaded = Arc<OnceLock<Arc<ModuleSymbols>>>;

/// The symbols that were loaded, by the path of their file.
#[derive(Default)]
pub struct SymbolsByFile(Mutex<HashMap<PathBuf, Loaded>>);

impl SymbolsByFile {
    /// The symbols of the file at `path`; `load` gives them where nobody asked before.
    pub fn get(&self, path: &Path, load: impl FnOnce() -> ModuleSymbols) -> Arc<ModuleSymbols> {
        let loaded = self.entry(path);
        loaded.get_or_init(|| Arc::new(load())).clone()
    }

    fn entry(&self, path: &Path) -> Loaded {
        let mut paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        paths.entry(path.to_owned()).or_default().clone()
    }
}
