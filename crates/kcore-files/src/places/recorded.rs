//! The path as the core records it. A file may really be called `x (deleted)`.

use std::path::{Path, PathBuf};

use crate::{Finder, WantedModule, finder::without_deleted};

pub fn candidates(_: &Finder, wanted: &WantedModule<'_>) -> Vec<PathBuf> {
    let names = [wanted.path, without_deleted(wanted.path)];
    names.into_iter().filter(|path| path.is_absolute()).map(Path::to_owned).collect()
}
