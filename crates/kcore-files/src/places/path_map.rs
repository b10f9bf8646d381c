//! Folders that the user moved: what the process had under one lies under another here.

use std::path::PathBuf;

use crate::{Finder, WantedModule, finder::without_deleted};

pub fn candidates(finder: &Finder, wanted: &WantedModule<'_>) -> Vec<PathBuf> {
    finder.paths.mapped(without_deleted(wanted.path)).collect()
}
