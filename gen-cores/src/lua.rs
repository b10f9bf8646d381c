//! Programs of Lua: interpreters of Debian's, and a case's folder with one of them.
//!
//! `lua5.1` to `lua5.4` are those of Debian 12, `lua5.4.2` and `lua5.4.7` those of the releases before and after: programs
//! without symbols that have Lua in themselves. `luajit2022` is LuaJIT of Debian 12, `luajit2025` that of Debian 13. Each is fetched once by apt from the suite that has it, with the libraries
//! that it wants, and run by its own C library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::apt;
use crate::lock::Lock;
use crate::{Download, Error, Result, Scenario, Variant, few, paths, scripts, unpacked};

/// An interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interpreter {
    /// The word of a variant's name that asks for it.
    word: &'static str,
    /// The package, which has its program under the same name.
    package: &'static str,
    /// The suite of Debian that has it.
    suite: &'static str,
    /// The libraries that it is linked with.
    libraries: &'static [&'static str],
}

const LIBRARIES: &[&str] = &["libc6", "libreadline8", "libtinfo6"];
/// The same in Debian 13.
const NEW_LIBRARIES: &[&str] = &["libc6", "libreadline8t64", "libtinfo6"];

const JIT_LIBRARIES: &[&str] = &["libluajit-5.1-2", "libc6", "libgcc-s1"];

const INTERPRETERS: &[Interpreter] = &[
    of_debian_12("lua5.1"),
    of_debian_12("lua5.2"),
    of_debian_12("lua5.3"),
    of_debian_12("lua5.4"),
    Interpreter { word: "lua5.4.2", suite: "bullseye", ..of_debian_12("lua5.4") },
    Interpreter {
        word: "lua5.4.7",
        suite: "trixie",
        libraries: NEW_LIBRARIES,
        ..of_debian_12("lua5.4")
    },
    Interpreter { word: "luajit2022", libraries: JIT_LIBRARIES, ..of_debian_12("luajit") },
    Interpreter {
        word: "luajit2025",
        suite: "trixie",
        libraries: JIT_LIBRARIES,
        ..of_debian_12("luajit")
    },
];

/// Megabytes of the packages of one version, and of what is in them.
const MEGABYTES: (u32, u32) = (4, 15);
/// What stands before the program where it is run.
const ENVIRONMENT: &str = "LD_LIBRARY_PATH=lib";

const fn of_debian_12(package: &'static str) -> Interpreter {
    Interpreter { word: package, package, suite: "bookworm", libraries: LIBRARIES }
}

/// The interpreter that a word of a variant's name asks for: `lua5.4`.
pub(crate) fn interpreter(word: &str) -> Option<Interpreter> {
    INTERPRETERS.iter().copied().find(|interpreter| interpreter.word == word)
}

impl Interpreter {
    /// The name and version.
    pub(crate) fn name(self) -> String {
        match self.word.strip_prefix("luajit") {
            Some(year) => format!("luajit of {year}"),
            None => format!("lua {}", self.word.trim_start_matches("lua")),
        }
    }

    /// What is to be fetched of it.
    pub(crate) fn download(self) -> Option<Download> {
        let (megabytes, on_disk) = MEGABYTES;
        let name = format!("{} of Debian's {}", self.package, self.suite);
        (!self.is_here()).then_some(Download { name, megabytes, on_disk })
    }

    /// What stands before the program where it is run.
    pub(crate) fn environment(self) -> &'static str {
        ENVIRONMENT
    }

    /// Its folder, beside the cores: all trees that share them share it.
    fn folder(self) -> PathBuf {
        paths::cores_dir().join(".lua").join(self.word)
    }

    fn is_here(self) -> bool {
        self.folder().join("packages").is_file()
    }

    /// Why it is not to be had here, if so.
    fn obstacle(self) -> Option<String> {
        let why = |error| format!("Debian's {} cannot be fetched: {error}", self.word);
        self.fetch().err().map(why)
    }

    /// Fetches and unpacks the packages, if they are not here.
    fn fetch(self) -> Result<()> {
        let dir = self.folder();
        let _lock = Lock::wait(&dir)?;
        if self.is_here() {
            return Ok(());
        }
        few::may_fetch()?;
        let packages = [self.package].into_iter().chain(self.libraries.iter().copied());
        apt::unpack(self.suite, &packages.collect::<Vec<_>>(), &dir)
    }

    /// Lays the interpreter into a case's folder under the scenario's name.
    fn give(self, program: &Path) -> Result<String> {
        let root = self.folder().join("root");
        unpacked::give(&root, &root.join("usr/bin").join(self.package), program)
    }
}

/// Why the interpreter that a variant needs is not to be had here, if so; asked once in a process.
pub(crate) fn why_not(variant: &Variant) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<&str, Option<String>>> = Mutex::new(BTreeMap::new());
    let interpreter = variant.lua?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(interpreter.word).or_insert_with(|| interpreter.obstacle()).clone()
}

/// Lays the interpreter, its scripts and the module that tells the truth into a case's folder; gives what
/// a person would do.
pub(crate) fn lay_out(scenario: &Scenario, variant: &Variant, dir: &Path) -> Result<Vec<String>> {
    let wrong =
        || Error::NoVariant { scenario: scenario.name.clone(), variant: variant.name.clone() };
    let lua = variant.lua.ok_or_else(wrong)?;
    let mut done = vec![lua.give(&dir.join(&scenario.name))?];
    done.extend(scripts::copy(scenario, "lua", "lua", dir)?);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_named_by_their_version() {
        assert_eq!(interpreter("lua5.4.2").unwrap().suite, "bullseye");
        assert_eq!(interpreter("lua5.1").unwrap().name(), "lua 5.1");
        assert_eq!((interpreter("lua5.0"), interpreter("lua")), (None, None));
    }
}
