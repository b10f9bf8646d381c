//! Debian's packages with libraries that programs of scenarios are linked with: unpacked once, never installed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::lock::Lock;
use crate::{Download, Result, Scenario, apt, few, paths};

/// The suite that has them.
const SUITE: &str = "bookworm";
/// What stands for the folder of the packages in a recipe's flags.
const FOLDER: &str = "{debian}";
/// Megabytes of the packages of a scenario, and of what is in them.
const MEGABYTES: (u32, u32) = (4, 30);

/// The folder of the packages of a scenario: all trees that share the cores share it.
fn folder(scenario: &Scenario) -> Option<PathBuf> {
    let packages = &scenario.recipe.debian;
    (!packages.is_empty()).then(|| paths::cores_dir().join(".debian").join(packages.join("+")))
}

/// Fetches and unpacks them, if they are not here.
fn fetch(scenario: &Scenario) -> Result<()> {
    let Some(dir) = folder(scenario) else { return Ok(()) };
    let _lock = Lock::wait(&dir)?;
    if dir.join("packages").is_file() {
        return Ok(());
    }
    few::may_fetch()?;
    let packages: Vec<&str> = scenario.recipe.debian.iter().map(String::as_str).collect();
    apt::unpack(SUITE, &packages, &dir)
}

/// What is to be fetched of the packages that a scenario needs.
pub(crate) fn download(scenario: &Scenario) -> Option<Download> {
    let dir = folder(scenario)?;
    let (megabytes, on_disk) = MEGABYTES;
    let name = format!("{} of Debian's {SUITE}", scenario.recipe.debian.join(", "));
    (!dir.join("packages").is_file()).then_some(Download { name, megabytes, on_disk })
}

/// Why the packages that a scenario needs are not to be had here, if so; asked once in a process.
pub(crate) fn why_not(scenario: &Scenario) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<String, Option<String>>> = Mutex::new(BTreeMap::new());
    let packages = scenario.recipe.debian.join(", ");
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let why = |error| format!("Debian's {packages} cannot be fetched: {error}");
    known.entry(packages.clone()).or_insert_with(|| fetch(scenario).err().map(why)).clone()
}

/// Flags of a recipe, with the folder of its packages where they name it.
pub(crate) fn flags(scenario: &Scenario, flags: &[String]) -> Vec<String> {
    let root = folder(scenario).map(|dir| dir.join("root").display().to_string());
    let root = root.unwrap_or_default();
    flags.iter().map(|flag| flag.replace(FOLDER, &root)).collect()
}
