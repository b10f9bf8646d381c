//! Makes one case: build, run, dump, tell the truth, stamp.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::account::Account;
use crate::compile::Build;
use crate::core_pattern::Pattern;
use crate::error::AtPath;
use crate::lock::Lock;
use crate::run::{ACCOUNT, Run};
use crate::variant::Maker;
use crate::{
    Result, Scenario, Truth, Variant, cache, cargo, debian, erlang, few, gcore, golang, java,
    kernel, lua, node, packages, paths, perl, php, python, qemu, ruby, tools, wheel,
};

/// A core that is there, with its program and its truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the variant.
    pub variant: String,
    /// The folder that holds all of it.
    pub dir: PathBuf,
    /// The program.
    pub exe: PathBuf,
    /// The core.
    pub core: PathBuf,
    /// The truth.
    pub truth_path: PathBuf,
    /// Who wrote the core: gdb, where the kernel was asked for but may not.
    pub maker: Maker,
}

/// What became of a case that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was made now.
    Made(Case),
    /// It was there and up to date.
    Fresh(Case),
    /// This machine cannot make it.
    Skipped(Skipped),
}

/// A case that this machine cannot make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the variant.
    pub variant: String,
    /// What is missing.
    pub reason: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}: {}", self.scenario, self.variant, self.reason)
    }
}

impl Case {
    /// `scenario/variant`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.scenario, self.variant)
    }

    /// Reads the truth.
    ///
    /// # Errors
    /// The file cannot be read or has another layout.
    pub fn truth(&self) -> Result<Truth> {
        Truth::load(&self.truth_path)
    }

    pub(crate) fn at(scenario: &str, variant: &str, dir: &Path, maker: Maker) -> Case {
        Case {
            scenario: scenario.to_owned(),
            variant: variant.to_owned(),
            dir: dir.to_owned(),
            exe: dir.join(scenario),
            core: dir.join("core"),
            truth_path: dir.join("truth.json"),
            maker,
        }
    }
}

/// The case of a scenario and variant if it was made before, whether or not it is up to date.
pub(crate) fn existing(scenario: &Scenario, variant: &Variant) -> Option<Case> {
    let dir = paths::case_dir(&scenario.name, &variant.name);
    if !dir.join(cache::STAMP).is_file() {
        return None;
    }
    let maker = Truth::load(&dir.join("truth.json")).ok()?.maker;
    Some(Case::at(&scenario.name, &variant.name, &dir, maker))
}

/// Makes a case if it is not up to date. Several processes may ask for the same one.
pub(crate) fn ensure(scenario: &Scenario, variant: &Variant, force: bool) -> Result<Outcome> {
    let missing = few::why_not(variant);
    let missing = missing.or_else(|| tools::why_not(scenario.recipe.language, variant));
    let missing = missing.or_else(|| python::why_not(variant));
    let missing = missing.or_else(|| ruby::why_not(variant));
    let missing = missing.or_else(|| lua::why_not(variant));
    let missing = missing.or_else(|| perl::why_not(variant));
    let missing = missing.or_else(|| php::why_not(variant));
    let missing = missing.or_else(|| erlang::why_not(variant));
    let missing = missing.or_else(|| debian::why_not(scenario));
    let missing = missing.map_or_else(|| node::why_not(variant), |why| Ok(Some(why)))?;
    let missing = missing.map_or_else(|| golang::why_not(variant), |why| Ok(Some(why)))?;
    let missing = missing.map_or_else(|| java::why_not(variant), |why| Ok(Some(why)))?;
    let missing =
        missing.map_or_else(|| packages::why_not(scenario, variant), |why| Ok(Some(why)))?;
    let missing = missing.map_or_else(|| cargo::why_not(scenario), |why| Ok(Some(why)))?;
    if let Some(reason) = missing.map_or_else(|| wheel::why_not(scenario), |why| Ok(Some(why)))? {
        let (scenario, variant) = (scenario.name.clone(), variant.name.clone());
        return Ok(Outcome::Skipped(Skipped { scenario, variant, reason }));
    }
    let dir = paths::case_dir(&scenario.name, &variant.name);
    let hash = cache::inputs(scenario, variant)?;
    let _lock = Lock::wait(&dir)?;
    if !force
        && cache::is_fresh(&dir, &hash)
        && let Some(case) = existing(scenario, variant)
    {
        return Ok(Outcome::Fresh(case));
    }
    empty(&dir)?;
    let made = make_in(scenario, variant, &dir).inspect_err(|_| drop_cores(&dir))?;
    if matches!(made, Outcome::Made(_)) {
        std::fs::write(dir.join(cache::STAMP), hash).at(&dir)?;
    }
    Ok(made)
}

/// Removes what a failed run left of cores: those of qemu can be of gigabytes. The rest tells why it failed.
fn drop_cores(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().contains("core") {
            // The failure itself is what is reported.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Makes a case in an empty folder.
pub(crate) fn make_in(scenario: &Scenario, variant: &Variant, dir: &Path) -> Result<Outcome> {
    let commands = Build { scenario, variant, dir }.run()?;
    keep_libs(scenario, dir)?;
    let case = format!("{}/{}", scenario.name, variant.name);
    let run = Run { scenario, variant, case, dir };
    let Some(maker) = dump(&run, variant)? else {
        return Ok(Outcome::Skipped(Skipped {
            scenario: scenario.name.clone(),
            variant: variant.name.clone(),
            reason: "core_pattern sends cores elsewhere, and gdb is not installed".to_owned(),
        }));
    };
    write_truth(&run, variant, maker)?;
    write_build(scenario, variant, dir, &commands)?;
    Ok(Outcome::Made(Case::at(&scenario.name, &variant.name, dir, maker)))
}

/// Makes the core by the maker that the variant names, or by the one that is there.
fn dump(run: &Run<'_>, variant: &Variant) -> Result<Option<Maker>> {
    match variant.maker {
        Maker::Gcore => gcore::make(run).map(|()| Some(Maker::Gcore)),
        Maker::Qemu => qemu::make(run, variant.arch).map(|()| Some(Maker::Qemu)),
        Maker::Kernel => dump_by_kernel(run),
    }
}

/// Makes the core by the kernel, or by gdb where the kernel may not.
fn dump_by_kernel(run: &Run<'_>) -> Result<Option<Maker>> {
    // Named, so that a borrowed pattern is put back only after the core is written.
    let pattern = Pattern::take()?;
    match &pattern {
        Pattern::Usable | Pattern::Borrowed { .. } => {
            kernel::make(run).map(|()| Some(Maker::Kernel))
        }
        Pattern::Elsewhere if tools::is_there("gdb") => {
            gcore::make(run).map(|()| Some(Maker::Gcore))
        }
        Pattern::Elsewhere => Ok(None),
    }
}

/// Copies the libraries to `kept/`: the program may delete or replace those beside it.
fn keep_libs(scenario: &Scenario, dir: &Path) -> Result<()> {
    let kept = dir.join("kept");
    for lib in scenario.recipe.libs.iter().filter(|lib| !lib.linked) {
        std::fs::create_dir_all(&kept).at(&kept)?;
        for number in 0..lib.count {
            let name = lib.file_name(number);
            std::fs::copy(dir.join(&name), kept.join(&name)).at(&dir.join(&name))?;
        }
    }
    Ok(())
}

fn write_truth(run: &Run<'_>, variant: &Variant, maker: Maker) -> Result<()> {
    let path = run.dir.join(ACCOUNT);
    let mut account = Account::load(&path)?;
    let counter = run.dir.join(format!("{ACCOUNT}.count"));
    if let Some(bytes) = std::fs::read(counter).ok().and_then(|bytes| bytes.first_chunk().copied())
    {
        account.set_depth(u32::try_from(u64::from_ne_bytes(bytes)).unwrap_or(u32::MAX));
    }
    account.into_truth(run.scenario, variant, maker)?.save(&run.dir.join("truth.json"))
}

fn write_build(scenario: &Scenario, variant: &Variant, dir: &Path, lines: &[String]) -> Result<()> {
    let build = json!({
        "scenario": scenario.name,
        "variant": variant.name,
        "language": scenario.recipe.language,
        "commands": lines,
        "versions": tools::versions(scenario.recipe.language, variant)?,
    });
    let path = dir.join("build.json");
    std::fs::write(&path, format!("{build:#}\n")).at(&path)
}

/// Leaves an empty folder.
pub(crate) fn empty(dir: &Path) -> Result<()> {
    if dir.exists() {
        std::fs::remove_dir_all(dir).at(dir)?;
    }
    std::fs::create_dir_all(dir).at(dir)
}
