//! Folders that are not there.

use std::path::{Path, PathBuf};

/// A path at which nothing is, in a folder that tests alone write to.
pub fn missing() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("missing");
    assert!(!path.exists(), "{}", path.display());
    path
}
