//! Programs of Rust that stand on packages of its registry, whose versions the lock file beside them pins.

use std::sync::{Mutex, PoisonError};

use crate::command::Line;
use crate::variant::Opt;
use crate::{Result, Scenario, Variant, few, paths};

/// What builds them.
const CARGO: &str = "cargo";

/// The line that builds the program of a scenario, and the one that lays it into a case's folder. Packages are built once
/// for all cases: they lie beside the cores.
pub(crate) fn build(scenario: &Scenario, manifest: &str, variant: &Variant) -> [Line; 2] {
    let level = match variant.opt {
        Opt::None => 0,
        Opt::Debug => 1,
        Opt::Full | Opt::FramePointers => 3,
    };
    let target = paths::cores_dir().join(".cargo").join(format!("O{level}"));
    let mut line = Line::new("env");
    line.arg(format!("RUSTFLAGS=--remap-path-prefix={}=gen-cores", paths::package_dir().display()));
    line.args([CARGO, "build", "--quiet", "--release", "--locked", "--manifest-path"]);
    line.path(&scenario.dir.join(manifest)).arg("--target-dir").path(&target);
    line.args(["--config", &format!("profile.release.opt-level={level}")]);
    line.args(["--config", "profile.release.debug=2"]).args(&scenario.recipe.flags);
    let mut copy = Line::new("cp");
    copy.path(&target.join("release").join(&scenario.name)).arg(&scenario.name);
    [line, copy]
}

/// Scenarios whose packages could not be fetched, and why.
static UNREACHED: Mutex<Option<String>> = Mutex::new(None);

/// Why the packages that a scenario stands on are not to be had here, if so.
pub(crate) fn why_not(scenario: &Scenario) -> Result<Option<String>> {
    let Some(manifest) = &scenario.recipe.manifest else { return Ok(None) };
    let mut known = UNREACHED.lock().unwrap_or_else(PoisonError::into_inner);
    if known.is_some() {
        return Ok(known.clone());
    }
    let mut line = Line::new(CARGO);
    line.args(["fetch", "--quiet", "--locked"]);
    if few::may_fetch().is_err() {
        line.arg("--offline");
    }
    line.arg("--manifest-path").path(&scenario.dir.join(manifest));
    if let Err(error) = line.run(&scenario.dir) {
        *known = Some(format!("packages of Rust cannot be fetched: {error}"));
    }
    Ok(known.clone())
}
