//! Directories in the build-id layout.

use std::path::PathBuf;

use crate::{Finder, WantedModule};

pub fn candidates(finder: &Finder, wanted: &WantedModule<'_>) -> Vec<PathBuf> {
    finder.by_build_id(wanted.build_id, "")
}
