//! The small cores that are committed: made in a neutral folder, compressed, with all they need beside.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::command::Line;
use crate::error::AtPath;
use crate::lock::Lock;
use crate::{Case, Error, Outcome, Result, make, paths, scenario};

/// The scenarios that are committed, and the variant of each.
pub const COMMITTED: &[(&str, &str)] =
    &[("workers", "O2-static"), ("abort", "O2-static"), ("nodes", "O0-musl-static")];

/// The folder that the paths in the cores name.
const NEUTRAL: &str = "/tmp/kcore-testdata";

/// Makes all committed cores again below `testdata/`; gives the folders.
///
/// # Errors
/// A case cannot be made, compressed or copied.
pub fn make_all() -> Result<Vec<PathBuf>> {
    COMMITTED.iter().map(|(scenario, variant)| make_one(scenario, variant)).collect()
}

fn make_one(scenario_name: &str, variant_name: &str) -> Result<PathBuf> {
    let neutral = Path::new(NEUTRAL);
    let _lock = Lock::wait(neutral)?;
    make::empty(neutral)?;
    let scenario = scenario(scenario_name)?;
    let outcome = make::make_in(&scenario, scenario.variant(variant_name)?, neutral)?;
    let case = match outcome {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => {
            let case = format!("{scenario_name}/{variant_name}");
            return Err(Error::Run { case, reason: skipped.reason });
        }
    };
    let to =
        paths::workspace_dir().join("testdata").join(scenario_name).join(std::env::consts::ARCH);
    make::empty(&to)?;
    copy(&case, &to)?;
    std::fs::remove_dir_all(neutral).at(neutral)?;
    Ok(to)
}

fn copy(case: &Case, to: &Path) -> Result<()> {
    let exe = to.join(&case.scenario);
    std::fs::copy(&case.exe, &exe).at(&exe)?;
    std::fs::copy(&case.truth_path, to.join("truth.json")).at(&case.truth_path)?;
    let mut zstd = Line::new("zstd");
    zstd.args(["-19", "-q", "-f", "-o"]).path(&to.join("core.zst")).path(&case.core);
    zstd.run(to)?;
    // The kernel writes cores for their owner alone, and zstd keeps that.
    let core = to.join("core.zst");
    std::fs::set_permissions(&core, std::fs::Permissions::from_mode(0o644)).at(&core)
}
