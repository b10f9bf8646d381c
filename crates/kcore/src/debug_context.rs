//! What a module's debug information needs from where files are.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use kcore_elf::{Image, Section};
use kcore_files::{CacheDir, Finder};
use kcore_symbols::{DebugContext, IndexCache, SplitFiles, SplitName};

use crate::module::ModuleContext;

/// What the debug information of the module whose file is at `path` may ask for.
pub fn context(context: &ModuleContext, path: Option<&Path>) -> DebugContext {
    let split = path.map(|path| -> Arc<dyn SplitFiles> {
        Arc::new(Beside { finder: context.finder.clone(), path: path.to_owned() })
    });
    let cache = context.cache.clone().map(|dir| -> Arc<dyn IndexCache> { Arc::new(Indexes(dir)) });
    DebugContext { split, cache }
}

/// Finds split files beside a module's file, or where its compiler put them. It must not hold the
/// module's context, which holds the symbols that hold this.
struct Beside {
    finder: Finder,
    path: PathBuf,
}

impl SplitFiles for Beside {
    fn file(&self, name: &SplitName) -> Option<Arc<Image>> {
        let directory = name.directory.as_deref().map(Path::new);
        let found = self.finder.find_split(&self.path, Path::new(&name.path), directory);
        found.file.map(|file| file.image)
    }

    fn package(&self) -> Option<Arc<Image>> {
        self.finder.find_package(&self.path).file.map(|file| file.image)
    }
}

/// Indexes in a folder of the user's.
struct Indexes(CacheDir);

impl IndexCache for Indexes {
    fn load(&self, name: &str) -> Option<Section> {
        self.0.load(name)
    }

    fn store(&self, name: &str, bytes: &[u8]) {
        // A folder that cannot be written keeps nothing; the next session works it out again.
        let _ = self.0.store(name, bytes);
    }
}
