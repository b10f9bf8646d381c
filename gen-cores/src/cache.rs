//! Tells whether a case is up to date: a stamp holds a hash of everything that the case was made from.

use std::path::{Path, PathBuf};

use crate::error::AtPath;
use crate::{Language, Result, Scenario, Variant, paths, tools};

/// Counted up when the harness makes other cores of the same sources.
pub(crate) const HARNESS_VERSION: u32 = 2;

/// Name of the stamp in a case's folder; written last, removed first.
pub(crate) const STAMP: &str = "stamp";

/// FNV-1a: small, and the same in every build, which the standard hasher does not promise.
struct Hash(u64);

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self.0 = self.0.wrapping_mul(31).wrapping_add(1);
    }

    fn add_dir(&mut self, dir: &Path) -> Result<()> {
        for path in sorted_files(dir)? {
            self.add(path.file_name().unwrap_or_default().as_encoded_bytes());
            self.add(&std::fs::read(&path).at(&path)?);
        }
        Ok(())
    }
}

/// The hash of all inputs of a case.
pub(crate) fn inputs(scenario: &Scenario, variant: &Variant) -> Result<String> {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    hash.add(&HARNESS_VERSION.to_le_bytes());
    hash.add(variant.name.as_bytes());
    for dir in source_dirs(scenario) {
        hash.add_dir(&dir)?;
    }
    hash.add_dir(&include_dir(scenario.recipe.language))?;
    for shared in &scenario.recipe.shares {
        hash.add_dir(&paths::include_dir().join(shared))?;
    }
    for version in tools::versions(scenario.recipe.language, variant)? {
        hash.add(version.as_bytes());
    }
    Ok(format!("{:016x}", hash.0))
}

/// The folders of a scenario's sources, its own first.
fn source_dirs(scenario: &Scenario) -> Vec<PathBuf> {
    let units =
        scenario.recipe.units.iter().filter_map(|unit| scenario.dir.join(unit).canonicalize().ok());
    let mut dirs = vec![scenario.dir.clone()];
    for source in std::iter::once(scenario.source()).chain(units) {
        let dir = source.parent().filter(|dir| !dirs.iter().any(|known| known == dir));
        dirs.extend(dir.map(Path::to_owned));
    }
    dirs
}

/// The folder of what programs of a language share.
fn include_dir(language: Language) -> PathBuf {
    match language {
        Language::JavaScript => paths::include_dir().join("js"),
        Language::Python => paths::include_dir().join("python"),
        Language::Ruby => paths::include_dir().join("ruby"),
        Language::Lua => paths::include_dir().join("lua"),
        Language::Perl => paths::include_dir().join("perl"),
        Language::Php => paths::include_dir().join("php"),
        Language::Erlang => paths::include_dir().join("erlang"),
        _ => paths::include_dir(),
    }
}

/// Whether the stamp in a folder says this hash.
pub(crate) fn is_fresh(dir: &Path, hash: &str) -> bool {
    std::fs::read_to_string(dir.join(STAMP)).is_ok_and(|found| found == hash)
}

fn sorted_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).at(dir)? {
        let path = entry.at(dir)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
