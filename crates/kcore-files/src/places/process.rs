//! Files of a live process that have no name any more: the system has links to them.

use std::path::PathBuf;

use crate::{Finder, WantedModule};

pub fn candidates(finder: &Finder, wanted: &WantedModule<'_>) -> Vec<PathBuf> {
    finder.paths.nameless.get(wanted.path).into_iter().cloned().collect()
}
