//! The folder of the core, by file name: a core and its files that were copied into one folder just open.

use std::path::{Path, PathBuf};

use crate::{Finder, WantedModule, finder::without_deleted};

pub fn candidates(finder: &Finder, wanted: &WantedModule<'_>) -> Vec<PathBuf> {
    let name = |path: &Path| finder.in_core_dir(path.file_name()?);
    [wanted.path, without_deleted(wanted.path)].into_iter().filter_map(name).collect()
}
