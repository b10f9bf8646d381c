//! The recorded path below the root of the file system that the process saw.

use std::path::PathBuf;

use crate::{Finder, WantedModule, finder::without_deleted};

pub fn candidates(finder: &Finder, wanted: &WantedModule<'_>) -> Vec<PathBuf> {
    finder.in_sysroot(without_deleted(wanted.path)).into_iter().collect()
}
