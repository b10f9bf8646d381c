//! Packages of Python that scripts of scenarios import: wheels that are pinned for each version of Python, fetched once
//! and unpacked into the folder `packages` of a case, never installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::command::Line;
use crate::error::AtPath;
use crate::lock::Lock;
use crate::pinned_wheel::PinnedWheel;
use crate::wheel::UNZIP;
use crate::{Download, Error, Result, Scenario, Variant, paths};

/// A wheel of a package.
struct Package {
    /// The word by which recipes ask for it.
    word: &'static str,
    /// The versions of Python that it is for; it is fetched for the first of them.
    pythons: &'static [&'static str],
    package: &'static str,
    version: &'static str,
    /// SHA-256 of its file.
    sha256: &'static str,
    /// Megabytes of it, and of what is unpacked.
    megabytes: (u32, u32),
}

/// One of greenlet.
const fn greenlet(
    word: &'static str,
    pythons: &'static [&'static str],
    version: &'static str,
    sha256: &'static str,
) -> Package {
    Package { word, pythons, package: "greenlet", version, sha256, megabytes: (1, 2) }
}

/// One of what gevent and eventlet are made of, for Python 3.11.
const fn of_gevent(
    package: &'static str,
    version: &'static str,
    sha256: &'static str,
    megabytes: (u32, u32),
) -> Package {
    Package { word: "gevent", pythons: &["3.11"], package, version, sha256, megabytes }
}

/// One of what trio is made of, none of which is of one version of Python alone.
const fn of_trio(
    word: &'static str,
    pythons: &'static [&'static str],
    package: &'static str,
    version: &'static str,
    sha256: &'static str,
) -> Package {
    Package { word, pythons, package, version, sha256, megabytes: (1, 4) }
}

/// The versions of Python that the newest trio is for, and those whose newest is an older one, or that run the oldest.
const NEW: &[&str] = &["3.10", "3.11", "3.12", "3.13", "3.14", "3.15"];
const OLD: &[&str] = &["3.8"];
const ALL: &[&str] = &["3.8", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15"];

/// The newest greenlet for each version of Python, the oldest that has wheels and is still used, and what stands on it.
const PACKAGES: &[Package] = &[
    greenlet(
        "greenlet",
        &["3.8"],
        "3.1.1",
        "85f3ff71e2e60bd4b4932a043fbbe0f499e263c628390b285cb599154a3b03b1",
    ),
    greenlet(
        "greenlet",
        &["3.9"],
        "3.2.4",
        "c9913f1a30e4526f432991f89ae263459b1c64d1608c0d22a5c79c287b3c70df",
    ),
    greenlet(
        "greenlet",
        &["3.10"],
        "3.5.6",
        "eed88b64a5e5da72d6a71cdc5aaeefaa5ced9b748f8d19f89800b339961dad39",
    ),
    greenlet(
        "greenlet",
        &["3.11"],
        "3.5.6",
        "1c20ea32a73d17b9b60e3371240e17b0068120c98a5ec01a224a7dd8c89733ba",
    ),
    greenlet(
        "greenlet",
        &["3.12"],
        "3.5.6",
        "975736b002ed080d124cf81a79cb7e05cb26d6b3f5c7a7b651c0fcce70353aa1",
    ),
    greenlet(
        "greenlet",
        &["3.13"],
        "3.5.6",
        "f98e8215e172f567ce80eeaed9107fb4d32b6c44f26983d9b8334658136a205a",
    ),
    greenlet(
        "greenlet",
        &["3.14"],
        "3.5.6",
        "9a09d59bef1db94f384b5bcc2d523694d338f3df6b757aeeaf7baca5d0c0be88",
    ),
    greenlet(
        "greenlet",
        &["3.15"],
        "3.5.6",
        "ccadce0130fd813ec86ebfe969a6c58b42acc1d0fe55a47525375b740e07b605",
    ),
    greenlet(
        "greenlet-old",
        &["3.8"],
        "0.4.17",
        "a34023b9eabb3525ee059f3bf33a417d2e437f7f17e341d334987d4091ae6072",
    ),
    greenlet(
        "greenlet-old",
        &["3.9"],
        "1.1.3",
        "2fb0aa7f6996879551fd67461d5d3ab0c3c0245da98be90c89fcb7a18d437403",
    ),
    greenlet(
        "greenlet-old",
        &["3.10"],
        "2.0.2",
        "d75209eed723105f9596807495d58d10b3470fa6732dd6756595e89925ce2470",
    ),
    greenlet(
        "greenlet-old",
        &["3.11"],
        "1.1.3",
        "ce5b64dfe8d0cca407d88b0ee619d80d4215a2612c1af8c98a92180e7109f4b5",
    ),
    greenlet(
        "greenlet-old",
        &["3.12"],
        "3.0.3",
        "fcd2469d6a2cf298f198f0487e0a5b1a47a42ca0fa4dfd1b6862c999f018ebbf",
    ),
    greenlet(
        "greenlet-old",
        &["3.13"],
        "3.1.1",
        "0153404a4bb921f0ff1abeb5ce8a5131da56b953eda6e14b88dc6bbc04d2049e",
    ),
    of_gevent(
        "greenlet",
        "3.5.6",
        "1c20ea32a73d17b9b60e3371240e17b0068120c98a5ec01a224a7dd8c89733ba",
        (1, 2),
    ),
    of_gevent(
        "dnspython",
        "2.9.2",
        "af15f7d385a6ae2fb35a796fde2138004c8c42c7389090e2addc83e3b3340fd8",
        (1, 4),
    ),
    of_gevent(
        "eventlet",
        "0.41.3",
        "839ed5711fff67034e46dedf4b41cf33f8378fca541e866621895fc186933e1d",
        (1, 4),
    ),
    of_gevent(
        "gevent",
        "26.9.0",
        "8e47e8c24135936bc01198f93aa97061e543a8b0d7a339d34182c35901b41da0",
        (2, 8),
    ),
    of_gevent(
        "zope.event",
        "6.2",
        "5e755153ac4faf64c10a4b6dd3307680166a3edf65b38df22df592610f8fa874",
        (1, 4),
    ),
    of_gevent(
        "zope.interface",
        "8.7",
        "1613beb1fb1b4f457818c5443e985142ec9e71af391bfb26e583e0353f206792",
        (1, 4),
    ),
    of_trio(
        "trio",
        NEW,
        "trio",
        "0.35.0",
        "9a062a029487c1bdbcc1b2543b729a0bde857ce478b1512c84f391f628e0c5c9",
    ),
    of_trio(
        "trio",
        NEW,
        "attrs",
        "26.1.0",
        "c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309",
    ),
    of_trio(
        "trio",
        NEW,
        "idna",
        "3.20",
        "ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c",
    ),
    of_trio(
        "trio",
        ALL,
        "outcome",
        "1.3.0.post0",
        "e771c5ce06d1415e356078d3bdd68523f284b4ce5419828922b6871e65eda82b",
    ),
    of_trio(
        "trio",
        ALL,
        "sniffio",
        "1.3.1",
        "2f6da418d1f1e0fddd844478f41680e794e6051915791a034ff65e5f100525a2",
    ),
    of_trio(
        "trio",
        ALL,
        "sortedcontainers",
        "2.4.0",
        "a163dcaede0f1c021485e957a39245190e74249897e2ae4b2aa38595db237ee0",
    ),
    of_trio(
        "trio",
        OLD,
        "trio",
        "0.27.0",
        "68eabbcf8f457d925df62da780eff15ff5dc68fd6b367e2dde59f7aaf2a0b884",
    ),
    of_trio(
        "trio",
        OLD,
        "attrs",
        "25.3.0",
        "427318ce031701fea540783410126f03899a97ffc6f61596ad581ac2e40e3bc3",
    ),
    of_trio(
        "trio",
        OLD,
        "idna",
        "3.15",
        "048adeaf8c2d788c40fee287673ccaa74c24ffd8dcf09ffa555a2fbb59f10ac8",
    ),
    of_trio(
        "trio-old",
        OLD,
        "trio",
        "0.12.1",
        "d2c7dfd60e4b2a87a8ba6e106e5c5bd743df729cff444e532a76c410b22d6658",
    ),
    of_trio(
        "trio-old",
        OLD,
        "attrs",
        "25.3.0",
        "427318ce031701fea540783410126f03899a97ffc6f61596ad581ac2e40e3bc3",
    ),
    of_trio(
        "trio-old",
        OLD,
        "idna",
        "3.15",
        "048adeaf8c2d788c40fee287673ccaa74c24ffd8dcf09ffa555a2fbb59f10ac8",
    ),
    of_trio(
        "trio-old",
        OLD,
        "async_generator",
        "1.10",
        "01c7bf666359b4967d2cda0000cc2e4af16a0ae098cbffcb8472fb9e8ad6585b",
    ),
    of_trio(
        "trio-old",
        OLD,
        "outcome",
        "1.3.0.post0",
        "e771c5ce06d1415e356078d3bdd68523f284b4ce5419828922b6871e65eda82b",
    ),
    of_trio(
        "trio-old",
        OLD,
        "sniffio",
        "1.3.1",
        "2f6da418d1f1e0fddd844478f41680e794e6051915791a034ff65e5f100525a2",
    ),
    of_trio(
        "trio-old",
        OLD,
        "sortedcontainers",
        "2.4.0",
        "a163dcaede0f1c021485e957a39245190e74249897e2ae4b2aa38595db237ee0",
    ),
    of_trio(
        "trio",
        &["3.8", "3.10"],
        "exceptiongroup",
        "1.3.2",
        "41c6a70dfec22050d3d8b43386b059a4dc0bca3f3d40a40971cb206fff1785af",
    ),
    of_trio(
        "trio",
        &["3.8", "3.10"],
        "typing_extensions",
        "4.13.2",
        "a439e7c04b49fec3e5d3e2beaa21755cadbbdc391694e28ccdd36ca4a1408f8c",
    ),
];

impl Package {
    /// The folder that it is unpacked in: all trees that share the cores share it.
    fn dir(&self) -> PathBuf {
        let name = format!("{}-{}-{}", self.package, self.version, self.python());
        paths::cores_dir().join(".packages").join(name)
    }

    fn python(&self) -> &'static str {
        self.pythons.first().copied().unwrap_or_default()
    }

    fn is_here(&self) -> bool {
        self.dir().join("whole").is_dir()
    }

    /// The folder with what is in it, fetched if it is not here.
    fn fetched(&self) -> Result<PathBuf> {
        let (dir, whole) = (self.dir(), self.dir().join("whole"));
        let _lock = Lock::wait(&dir)?;
        if !whole.is_dir() {
            std::fs::create_dir_all(&dir).at(&dir)?;
            self.fetch(&dir, &whole)?;
        }
        Ok(whole)
    }

    /// Unpacks nothing that is not pinned, and the whole of it or nothing: this process may be killed.
    fn fetch(&self, dir: &Path, whole: &Path) -> Result<()> {
        let (package, version, sha256) = (self.package, self.version, self.sha256);
        let pinned = PinnedWheel { package, version, sha256, name: package };
        let abi = format!("cp{}", self.python().replace('.', ""));
        let python = ["--implementation", "cp", "--python-version", self.python()];
        let abis = ["--abi", abi.as_str(), "--abi", "none"];
        let wheel = pinned.fetch(dir, &[python.as_slice(), &abis].concat())?;
        let part = dir.join("part");
        Line::new(UNZIP).args(["-q", "-o"]).path(&wheel).run(&part)?;
        std::fs::remove_file(&wheel).at(&wheel)?;
        std::fs::rename(&part, whole).at(whole)
    }
}

/// The packages that a variant of a scenario needs.
fn of<'a>(
    scenario: &'a Scenario,
    variant: &'a Variant,
) -> impl Iterator<Item = &'static Package> + 'a {
    let python = variant.python.map(|python| python.version());
    let words = &scenario.recipe.packages;
    let is_wanted = move |package: &&Package| {
        python.is_some_and(|python| package.pythons.contains(&python))
            && words.iter().any(|word| word == package.word)
    };
    PACKAGES.iter().filter(is_wanted)
}

/// What is to be fetched of them.
pub(crate) fn downloads(scenario: &Scenario, variant: &Variant) -> Vec<Download> {
    let missing = of(scenario, variant).filter(|package| !package.is_here());
    let download = |package: &Package| {
        let (python, Package { package, version, megabytes, .. }) = (package.python(), package);
        let name = format!("{package} {version} (a package of Python {python})");
        Download { name, megabytes: megabytes.0, on_disk: megabytes.1 }
    };
    missing.map(download).collect()
}

/// Packages that could not be fetched, and why: pip takes its time to find that out.
static UNREACHED: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// Why a package that a variant needs is not to be had here, if so. What is fetched and not what is pinned is an error.
pub(crate) fn why_not(scenario: &Scenario, variant: &Variant) -> Result<Option<String>> {
    let mut known = UNREACHED.lock().unwrap_or_else(PoisonError::into_inner);
    for package in of(scenario, variant) {
        if let Some(reason) = known.get(&package.dir()) {
            return Ok(Some(reason.clone()));
        }
        match package.fetched() {
            Ok(_) => {}
            Err(wrong @ Error::Toolchain { .. }) => return Err(wrong),
            Err(error) => {
                let (name, version) = (package.package, package.version);
                let reason = format!("{name} {version} cannot be fetched: {error}");
                known.insert(package.dir(), reason.clone());
                return Ok(Some(reason));
            }
        }
    }
    Ok(None)
}

/// Lays the packages that a variant needs into a case's folder; gives what a person would do.
pub(crate) fn lay_out(scenario: &Scenario, variant: &Variant, dir: &Path) -> Result<Vec<String>> {
    let to = dir.join("packages");
    let lay = |package: &Package| {
        let from = package.fetched()?;
        std::fs::create_dir_all(&to).at(&to)?;
        Line::new("cp").args(["-r", "-l"]).path(&from.join(".")).path(&to).run(dir)?;
        Ok(format!("cp -r {}/. {}", from.display(), to.display()))
    };
    of(scenario, variant).map(lay).collect()
}
