//! Programs of Perl: interpreters of Debian's, and a case's folder with one of them.
//!
//! `perl5.36` is that of Debian 12, `perl5.32` and `perl5.40` those of the releases before and after, `perl5.42` that of
//! Debian's unstable: programs with threads and without symbols but for those that they export. Each is fetched once by apt
//! from the suite that has it, with the libraries that it wants, and run by its own C library with its own modules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::apt;
use crate::error::AtPath;
use crate::lock::Lock;
use crate::{Download, Error, Result, Scenario, Variant, few, paths, scripts, unpacked};

/// An interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interpreter {
    /// The word of a variant's name that asks for it: its version behind `perl`.
    word: &'static str,
    /// The suite of Debian that has it.
    suite: &'static str,
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter { word: "perl5.32", suite: "bullseye" },
    Interpreter { word: "perl5.36", suite: "bookworm" },
    Interpreter { word: "perl5.40", suite: "trixie" },
    Interpreter { word: "perl5.42", suite: "sid" },
];

/// The package of the program, and the libraries that it is linked with.
const PACKAGES: &[&str] = &["perl-base", "libc6", "libcrypt1"];
/// Megabytes of the packages of one version, and of what is in them.
const MEGABYTES: (u32, u32) = (14, 70);
/// What stands before the program where it is run.
const ENVIRONMENT: &str = "LD_LIBRARY_PATH=lib";
/// Folders of modules in a case's, which come before those of the system's own Perl.
const MODULES: [&str; 3] = ["-Iperl/base", "-Iperl/machine", "-Iperl/plain"];

/// The interpreter that a word of a variant's name asks for: `perl5.36`.
pub(crate) fn interpreter(word: &str) -> Option<Interpreter> {
    INTERPRETERS.iter().copied().find(|interpreter| interpreter.word == word)
}

impl Interpreter {
    fn version(self) -> &'static str {
        self.word.trim_start_matches("perl")
    }

    /// The name and version.
    pub(crate) fn name(self) -> String {
        format!("perl {}", self.version())
    }

    /// What is to be fetched of it.
    pub(crate) fn download(self) -> Option<Download> {
        let (megabytes, on_disk) = MEGABYTES;
        let name = format!("perl {} of Debian's {}", self.version(), self.suite);
        (!self.is_here()).then_some(Download { name, megabytes, on_disk })
    }

    /// What stands before the program where it is run.
    pub(crate) fn environment(self) -> &'static str {
        ENVIRONMENT
    }

    /// Options that come before the script.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        &MODULES
    }

    /// Its folder, beside the cores: all trees that share them share it.
    fn folder(self) -> PathBuf {
        paths::cores_dir().join(".perl").join(self.word)
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
        let modules =
            [format!("libperl{}", self.version()), format!("perl-modules-{}", self.version())];
        let packages = PACKAGES.iter().copied().chain(modules.iter().map(String::as_str));
        apt::unpack(self.suite, &packages.collect::<Vec<_>>(), &dir)
    }

    /// Lays the interpreter into a case's folder under the scenario's name, with its modules.
    fn give(self, program: &Path) -> Result<String> {
        let root = self.folder().join("root");
        let done = unpacked::give(&root, &root.join("usr/bin/perl"), program)?;
        let modules = program.with_file_name("perl");
        std::fs::create_dir_all(&modules).at(&modules)?;
        let machine = root.join("usr/lib/x86_64-linux-gnu");
        unpacked::link(&machine.join("perl-base"), &modules.join("base"))?;
        unpacked::link(&machine.join("perl").join(self.version()), &modules.join("machine"))?;
        let plain = root.join("usr/share/perl").join(self.version());
        unpacked::link(&plain, &modules.join("plain"))?;
        Ok(done)
    }
}

/// Why the interpreter that a variant needs is not to be had here, if so; asked once in a process.
pub(crate) fn why_not(variant: &Variant) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<&str, Option<String>>> = Mutex::new(BTreeMap::new());
    let interpreter = variant.perl?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(interpreter.word).or_insert_with(|| interpreter.obstacle()).clone()
}

/// Lays the interpreter, its scripts and the module that tells the truth into a case's folder; gives what a person would
/// do.
pub(crate) fn lay_out(scenario: &Scenario, variant: &Variant, dir: &Path) -> Result<Vec<String>> {
    let wrong =
        || Error::NoVariant { scenario: scenario.name.clone(), variant: variant.name.clone() };
    let perl = variant.perl.ok_or_else(wrong)?;
    let mut done = vec![perl.give(&dir.join(&scenario.name))?];
    for extension in ["pl", "pm"] {
        done.extend(scripts::copy(scenario, "perl", extension, dir)?);
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_named_by_their_version() {
        assert_eq!(interpreter("perl5.32").unwrap().suite, "bullseye");
        assert_eq!(interpreter("perl5.36").unwrap().name(), "perl 5.36");
        assert_eq!((interpreter("perl5.30"), interpreter("perl")), (None, None));
    }
}
