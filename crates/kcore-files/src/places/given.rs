//! The executable that the user named.

use std::path::PathBuf;

use crate::{Finder, WantedModule};

pub fn candidates(finder: &Finder, wanted: &WantedModule<'_>) -> Vec<PathBuf> {
    finder.paths.exe.iter().filter(|_| wanted.is_exe).cloned().collect()
}
