//! Where things lie: sources in the package, everything made in the target folder.

use std::path::{Path, PathBuf};

/// The folder of this package.
pub fn package_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the workspace.
pub fn workspace_dir() -> PathBuf {
    let package = package_dir();
    package.parent().map_or_else(|| package.clone(), Path::to_path_buf)
}

/// The folder that holds one folder per scenario.
pub fn scenarios_dir() -> PathBuf {
    package_dir().join("scenarios")
}

/// The folder of the shared headers and modules.
pub fn include_dir() -> PathBuf {
    package_dir().join("include")
}

/// The folder that all cores go to: `cores` in `$CARGO_TARGET_DIR` or the workspace's `target`.
pub fn cores_dir() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    workspace_dir().join(target).join("cores")
}

/// The folder of one case.
pub fn case_dir(scenario: &str, variant: &str) -> PathBuf {
    cores_dir().join(scenario).join(variant)
}
