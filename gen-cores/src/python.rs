//! Programs of CPython: interpreters of many versions, and a case's folder with one of them.
//!
//! `python3.8` is pyenv's, a shared `libpython3.8.so.1.0` with debug information: it is there or it is not.
//! `debian3.14` is Debian's, static in the executable and stripped: fetched once by apt from a suite that
//! has this version, with the C library that it wants, and run by that one. `debian3.13d` is the one that
//! checks itself (`--with-pydebug`), with symbols and debug information in its file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::apt;
use crate::error::AtPath;
use crate::lock::Lock;
use crate::{Download, Error, Result, Scenario, Variant, few, packages, paths, scripts, unpacked};

/// An interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interpreter {
    /// The word of a variant's name that asks for it.
    word: &'static str,
    /// Its version without the patch.
    version: &'static str,
    /// Where it comes from.
    from: From,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Pyenv,
    /// A suite of Debian, and the packages of libraries that its interpreter is linked with.
    Debian(&'static str, &'static [&'static str]),
    /// The same, of the build that checks itself.
    DebianDebug(&'static str, &'static [&'static str]),
}

/// The libraries of interpreters since Debian 12.
const LIBRARIES: &[&str] = &["libc6", "zlib1g", "libexpat1", "libffi8"];

const INTERPRETERS: &[Interpreter] = &[
    Interpreter { word: "python3.8", version: "3.8", from: From::Pyenv },
    Interpreter { word: "python3.9", version: "3.9", from: From::Pyenv },
    Interpreter { word: "python3.10", version: "3.10", from: From::Pyenv },
    Interpreter { word: "python3.11", version: "3.11", from: From::Pyenv },
    Interpreter { word: "python3.12", version: "3.12", from: From::Pyenv },
    Interpreter { word: "python3.13", version: "3.13", from: From::Pyenv },
    Interpreter {
        word: "debian3.9",
        version: "3.9",
        from: From::Debian("bullseye", &["libc6", "zlib1g", "libexpat1", "libffi7"]),
    },
    Interpreter { word: "debian3.11", version: "3.11", from: From::Debian("bookworm", LIBRARIES) },
    Interpreter { word: "debian3.13", version: "3.13", from: From::Debian("trixie", LIBRARIES) },
    Interpreter { word: "debian3.14", version: "3.14", from: From::Debian("sid", LIBRARIES) },
    Interpreter { word: "debian3.15", version: "3.15", from: From::Debian("sid", LIBRARIES) },
    Interpreter {
        word: "debian3.11d",
        version: "3.11",
        from: From::DebianDebug("bookworm", LIBRARIES),
    },
    Interpreter {
        word: "debian3.13d",
        version: "3.13",
        from: From::DebianDebug("trixie", LIBRARIES),
    },
    Interpreter { word: "debian3.14d", version: "3.14", from: From::DebianDebug("sid", LIBRARIES) },
    Interpreter {
        word: "debian3.15d",
        version: "3.15",
        from: From::DebianDebug(
            "sid",
            &["libc6", "zlib1g", "libexpat1", "libffi8", "libgcc-s1", "libzstd1"],
        ),
    },
];

/// Megabytes of the packages of one interpreter with its libraries, and of what is unpacked of them: the largest of
/// those that were measured, of the usual builds and of those that check themselves.
const MEGABYTES: (u32, u32) = (10, 40);
const DEBUG_MEGABYTES: (u32, u32) = (65, 180);

/// The interpreter that a word of a variant's name asks for: `python3.8`, `debian3.14`.
pub(crate) fn interpreter(word: &str) -> Option<Interpreter> {
    INTERPRETERS.iter().copied().find(|interpreter| interpreter.word == word)
}

impl Interpreter {
    /// Its version without the patch.
    pub(crate) const fn version(self) -> &'static str {
        self.version
    }

    /// Its name and version, as it was installed.
    pub(crate) fn name(self) -> String {
        match self.from {
            From::Pyenv => {
                self.pyenv().map_or_else(|| self.word.into(), |dir| dir.display().to_string())
            }
            From::Debian(..) | From::DebianDebug(..) => {
                std::fs::read_to_string(self.debian().join("packages"))
                    .map_or_else(|_| self.word.into(), |names| names.replace('\n', " "))
            }
        }
    }

    /// The folder of pyenv's newest patch of this version.
    fn pyenv(self) -> Option<PathBuf> {
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv"));
        let root = std::env::var_os("PYENV_ROOT").map(PathBuf::from).or_else(home)?;
        let installed = std::fs::read_dir(root.join("versions")).ok()?.filter_map(|it| it.ok());
        let patch = |path: &Path| -> Option<u32> {
            let name = path.file_name()?.to_str()?;
            name.strip_prefix(self.version)?.strip_prefix('.')?.parse().ok()
        };
        let known = installed.filter_map(|entry| Some((patch(&entry.path())?, entry.path())));
        known.max().map(|(_, path)| path)
    }

    /// The folder that Debian's is unpacked in: all trees that share the cores share it.
    fn debian(self) -> PathBuf {
        paths::cores_dir().join(".python").join(self.word)
    }

    /// What is to be fetched of it: nothing of pyenv's, which is there or is not.
    pub(crate) fn download(self) -> Option<Download> {
        let (megabytes, on_disk) = match self.from {
            From::Pyenv => return None,
            From::Debian(..) => MEGABYTES,
            From::DebianDebug(..) => DEBUG_MEGABYTES,
        };
        let name = format!("Python {} of Debian", self.word.trim_start_matches("debian"));
        (!self.is_here()).then_some(Download { name, megabytes, on_disk })
    }

    /// Whether Debian's packages were fetched before.
    fn is_here(self) -> bool {
        self.debian().join("packages").is_file()
    }

    /// Why it is not to be had here, if so.
    fn obstacle(self) -> Option<String> {
        match self.from {
            From::Pyenv => {
                self.pyenv().is_none().then(|| format!("pyenv has no Python {}", self.version))
            }
            From::Debian(suite, libraries) | From::DebianDebug(suite, libraries) => {
                self.fetch(suite, libraries).err().map(|error| {
                    format!("Debian's Python {} cannot be fetched: {error}", self.version)
                })
            }
        }
    }

    /// Fetches and unpacks Debian's packages, if they are not here.
    fn fetch(self, suite: &str, libraries: &[&str]) -> Result<()> {
        let dir = self.debian();
        let _lock = Lock::wait(&dir)?;
        if self.is_here() {
            return Ok(());
        }
        few::may_fetch()?;
        let own = self.packages();
        let own = own.iter().map(String::as_str).chain(libraries.iter().copied());
        apt::unpack(suite, &own.collect::<Vec<_>>(), &dir)
    }

    /// Debian's packages of the interpreter itself and its library.
    fn packages(self) -> Vec<String> {
        let version = self.version;
        let own = match self.from {
            From::DebianDebug(..) => {
                vec![format!("python{version}-dbg"), format!("libpython{version}-dbg")]
            }
            From::Pyenv | From::Debian(..) => vec![format!("python{version}-minimal")],
        };
        let library = [format!("libpython{version}-minimal"), format!("libpython{version}-stdlib")];
        own.into_iter().chain(library).collect()
    }

    /// What its file is called where Debian has it.
    fn debian_file(self) -> String {
        let abi = if matches!(self.from, From::DebianDebug(..)) { "d" } else { "" };
        format!("python{}{abi}", self.version)
    }

    /// Lays the interpreter into a case's folder under the scenario's name.
    fn give(self, program: &Path) -> Result<String> {
        match self.from {
            From::Pyenv => {
                let wrong =
                    || Error::Toolchain { path: program.into(), reason: "not there".into() };
                let from = self.pyenv().ok_or_else(wrong)?;
                let from = from.join("bin").join(format!("python{}", self.version));
                std::fs::copy(&from, program).at(program)?;
                Ok(format!("cp {} {}", from.display(), program.display()))
            }
            From::Debian(..) | From::DebianDebug(..) => self.give_patched(program),
        }
    }

    /// Debian's, which asks for a dynamic linker in the case's folder, with links of all libraries there.
    fn give_patched(self, program: &Path) -> Result<String> {
        let root = self.debian().join("root");
        unpacked::give(&root, &root.join("usr/bin").join(self.debian_file()), program)
    }

    /// What stands before the program where it is run.
    pub(crate) fn environment(self) -> Option<&'static str> {
        (self.from != From::Pyenv).then_some("LD_LIBRARY_PATH=lib")
    }
}

/// Why the interpreter that a variant needs is not to be had here, if so; asked once in a process.
pub(crate) fn why_not(variant: &Variant) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<&str, Option<String>>> = Mutex::new(BTreeMap::new());
    let interpreter = variant.python?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(interpreter.word).or_insert_with(|| interpreter.obstacle()).clone()
}

/// Lays the interpreter, its scripts and the module that tells the truth into a case's folder; gives what
/// a person would do.
pub(crate) fn lay_out(scenario: &Scenario, variant: &Variant, dir: &Path) -> Result<Vec<String>> {
    let wrong =
        || Error::NoVariant { scenario: scenario.name.clone(), variant: variant.name.clone() };
    let python = variant.python.ok_or_else(wrong)?;
    let mut done = vec![python.give(&dir.join(&scenario.name))?];
    done.extend(scripts::copy(scenario, "python", "py", dir)?);
    done.extend(packages::lay_out(scenario, variant, dir)?);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_named_by_their_version() {
        assert_eq!(interpreter("python3.8").unwrap().version, "3.8");
        assert_eq!((interpreter("python2.7"), interpreter("python")), (None, None));
        for interpreter in INTERPRETERS {
            assert!(interpreter.word.trim_end_matches('d').ends_with(interpreter.version));
        }
        let debug = interpreter("debian3.13d").unwrap();
        assert_eq!((debug.debian_file().as_str(), debug.packages().len()), ("python3.13d", 4));
    }
}
