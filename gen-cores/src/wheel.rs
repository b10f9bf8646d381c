//! Packages of Python with native libraries that programs of scenarios load: fetched once, never installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::command::Line;
use crate::error::AtPath;
use crate::lock::Lock;
use crate::pinned_wheel::PinnedWheel;
use crate::{Download, Error, Result, Scenario, paths};

/// What fetches packages, and what unpacks them.
pub(crate) const PIP: &str = "pip3";
pub(crate) const UNZIP: &str = "unzip";

/// A library in a package of the registry that pip is told to use.
struct Wheel {
    /// Name and version of the package, by both of which recipes ask for it.
    package: &'static str,
    version: &'static str,
    /// What pip is told to take, whatever Python it runs in.
    python: &'static str,
    platform: &'static str,
    /// SHA-256 of its file.
    sha256: &'static str,
    /// The library, within the package.
    library: &'static str,
    /// Megabytes of the package, and of the library in it.
    megabytes: (u32, u32),
}

const WHEELS: &[Wheel] = &[
    // Holds all of bRPC, with its symbols and without debug information.
    Wheel {
        package: "spu",
        version: "0.9.5",
        python: "3.11",
        platform: "manylinux_2_17_x86_64",
        sha256: "b3003406dc3ed5fb2223723179918d33287f6231cff29c2319ff6b40f15a4c3c",
        library: "spu/libspu.so",
        megabytes: (72, 289),
    },
    // Libraries of releases of Go for which no compiler is to be had, with debug information.
    Wheel {
        package: "tls-client",
        version: "0.2.1",
        python: "3.11",
        platform: "any",
        sha256: "124a710952b979d5e20b4e2b7879b7958d6e48a259d0f5b83101055eb173f0bd",
        library: "tls_client/dependencies/tls-client-x86.so",
        megabytes: (35, 10),
    },
    Wheel {
        package: "tls-client",
        version: "1.0.1",
        python: "3.11",
        platform: "any",
        sha256: "2f8915c0642c2226c9e33120072a2af082812f6310d32f4ea4da322db7d3bb1c",
        library: "tls_client/dependencies/tls-client-x86.so",
        megabytes: (41, 12),
    },
];

impl Wheel {
    fn name(&self) -> String {
        format!("{} {}", self.package, self.version)
    }

    /// The folder that the library is unpacked in: all trees that share the cores share it.
    fn dir(&self) -> PathBuf {
        paths::cores_dir().join(".wheel").join(format!("{}-{}", self.package, self.version))
    }

    /// What is to be fetched of it.
    fn download(&self) -> Option<Download> {
        let (megabytes, on_disk) = self.megabytes;
        let name = format!("{} (a library in a package of Python)", self.name());
        let is_here = self.dir().join(self.file_name()).is_file();
        (!is_here).then_some(Download { name, megabytes, on_disk })
    }

    fn file_name(&self) -> &'static str {
        self.library.rsplit('/').next().unwrap_or(self.library)
    }

    /// The library, fetched if it is not here.
    fn fetched(&self) -> Result<PathBuf> {
        let dir = self.dir();
        let path = dir.join(self.file_name());
        let _lock = Lock::wait(&dir)?;
        if !path.is_file() {
            std::fs::create_dir_all(&dir).at(&dir)?;
            self.fetch(&dir)?;
        }
        Ok(path)
    }

    /// Unpacks nothing that is not pinned.
    fn fetch(&self, dir: &Path) -> Result<()> {
        let (package, version, sha256) = (self.package, self.version, self.sha256);
        let pinned = PinnedWheel { package, version, sha256, name: package };
        let python = ["--abi", "none", "--implementation", "cp", "--python-version", self.python];
        let wheel = pinned.fetch(dir, &[&python[..], &["--platform", self.platform]].concat())?;
        let part = dir.join("part");
        // Whole or not at all: this process may be killed.
        Line::new(UNZIP).args(["-q", "-o", "-j"]).path(&wheel).arg(self.library).run(&part)?;
        std::fs::rename(part.join(self.file_name()), dir.join(self.file_name())).at(&part)?;
        std::fs::remove_dir_all(&part).at(&part)
    }
}

fn of(scenario: &Scenario) -> Result<Option<&'static Wheel>> {
    let Some(name) = &scenario.recipe.wheel else { return Ok(None) };
    let known = WHEELS.iter().find(|wheel| wheel.name() == *name);
    let unknown = || Error::Recipe {
        path: scenario.dir.join("recipe.toml"),
        reason: format!("no package {name} is pinned"),
    };
    known.map(Some).ok_or_else(unknown)
}

/// What is to be fetched of the package that a scenario needs.
pub(crate) fn download(scenario: &Scenario) -> Result<Option<Download>> {
    Ok(of(scenario)?.and_then(Wheel::download))
}

/// Packages that could not be fetched, and why: pip takes its time to find that out.
static UNREACHED: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// Why the package that a scenario needs is not to be had here, if so. What is fetched and not what is
/// pinned is an error.
pub(crate) fn why_not(scenario: &Scenario) -> Result<Option<String>> {
    let Some(wheel) = of(scenario)? else { return Ok(None) };
    let mut known = UNREACHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(reason) = known.get(&wheel.name()) {
        return Ok(Some(reason.clone()));
    }
    match wheel.fetched() {
        Ok(_) => Ok(None),
        Err(wrong @ Error::Toolchain { .. }) => Err(wrong),
        Err(error) => {
            let reason = format!("{} cannot be fetched: {error}", wheel.name());
            known.insert(wheel.name(), reason.clone());
            Ok(Some(reason))
        }
    }
}

/// Lays the library of the package that a scenario needs into a case's folder; gives what a person would
/// do. It is linked, not copied: libraries may have hundreds of megabytes.
pub(crate) fn lay_out(scenario: &Scenario, dir: &Path) -> Result<Option<String>> {
    let Some(wheel) = of(scenario)? else { return Ok(None) };
    let (from, to) = (wheel.fetched()?, dir.join(wheel.file_name()));
    if std::fs::hard_link(&from, &to).is_err() {
        std::fs::copy(&from, &to).at(&to)?;
    }
    Ok(Some(format!("ln {} {}", from.display(), to.display())))
}
