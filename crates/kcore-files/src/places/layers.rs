//! The recorded path in the layers of a container, the uppermost first.

use std::path::PathBuf;

use crate::{Finder, WantedModule, finder::without_deleted};

pub fn candidates(finder: &Finder, wanted: &WantedModule<'_>) -> Vec<PathBuf> {
    finder.in_layers(without_deleted(wanted.path), wanted.build_id.is_some())
}
