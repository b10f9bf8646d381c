//! Programs of MRI: interpreters of Debian's, and a case's folder with one of them.
//!
//! `ruby2.7`, `ruby3.1` and `ruby3.3` are Debian's, a shared and stripped library: fetched once by apt from the suite that
//! has the version, with the C library that it wants, and run by that one. `yjit3.1` is the same as `ruby3.1`, with
//! machine code made of all methods; `ruby3.4` comes from what Debian tries out, and may be gone.

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
    /// Its version without the patch.
    version: &'static str,
    /// The suite of Debian that has it.
    suite: &'static str,
    /// What it is told before the script.
    pub flags: &'static [&'static str],
}

/// The libraries that it is linked with.
const LIBRARIES: &[&str] = &["libc6", "libgmp10", "libcrypt1", "zlib1g"];
/// What leaves out libraries that are not fetched.
const PLAIN: &[&str] = &["--disable-gems"];
/// The same, with machine code of each method that was called once.
const COMPILED: &[&str] = &["--disable-gems", "--yjit", "--yjit-call-threshold=1"];

const INTERPRETERS: &[Interpreter] = &[
    Interpreter { word: "ruby2.7", version: "2.7", suite: "bullseye", flags: PLAIN },
    Interpreter { word: "ruby3.1", version: "3.1", suite: "bookworm", flags: PLAIN },
    Interpreter { word: "ruby3.3", version: "3.3", suite: "trixie", flags: PLAIN },
    Interpreter { word: "ruby3.4", version: "3.4", suite: "experimental", flags: PLAIN },
    Interpreter { word: "yjit3.1", version: "3.1", suite: "bookworm", flags: COMPILED },
];

/// Megabytes of the packages of one version, and of what is in them.
const MEGABYTES: (u32, u32) = (9, 45);
/// What stands before the program where it is run.
const ENVIRONMENT: [&str; 2] = ["LD_LIBRARY_PATH=lib", "RUBYLIB=std:ext"];

/// The interpreter that a word of a variant's name asks for: `ruby3.3`.
pub(crate) fn interpreter(word: &str) -> Option<Interpreter> {
    INTERPRETERS.iter().copied().find(|interpreter| interpreter.word == word)
}

impl Interpreter {
    /// The name and version.
    pub(crate) fn name(self) -> String {
        format!("ruby {}", self.version)
    }

    /// What is to be fetched of it.
    pub(crate) fn download(self) -> Option<Download> {
        let (megabytes, on_disk) = MEGABYTES;
        let name = format!("Ruby {} of Debian", self.version);
        (!self.is_here()).then_some(Download { name, megabytes, on_disk })
    }

    /// What stands before the program where it is run.
    pub(crate) fn environment(self) -> impl Iterator<Item = String> {
        ENVIRONMENT.into_iter().map(str::to_owned)
    }

    /// Its folder, beside the cores: all trees that share them share it.
    fn folder(self) -> PathBuf {
        paths::cores_dir().join(".ruby").join(self.version)
    }

    fn is_here(self) -> bool {
        self.folder().join("packages").is_file()
    }

    /// Why it is not to be had here, if so.
    fn obstacle(self) -> Option<String> {
        let why = |error| format!("Debian's Ruby {} cannot be fetched: {error}", self.version);
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
        let own = [format!("ruby{}", self.version), format!("libruby{}", self.version)];
        let packages = own.iter().map(String::as_str).chain(LIBRARIES.iter().copied());
        apt::unpack(self.suite, &packages.collect::<Vec<_>>(), &dir)
    }

    /// Lays the interpreter into a case's folder under the scenario's name, with its library.
    fn give(self, program: &Path) -> Result<String> {
        let root = self.folder().join("root");
        let done = unpacked::give(
            &root,
            &root.join("usr/bin").join(format!("ruby{}", self.version)),
            program,
        )?;
        let version = format!("{}.0", self.version);
        let folders = [("std", "usr/lib/ruby"), ("ext", "usr/lib/x86_64-linux-gnu/ruby")];
        for (name, folder) in folders {
            unpacked::link(&root.join(folder).join(&version), &program.with_file_name(name))?;
        }
        Ok(done)
    }
}

/// Why the interpreter that a variant needs is not to be had here, if so; asked once in a process.
pub(crate) fn why_not(variant: &Variant) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<&str, Option<String>>> = Mutex::new(BTreeMap::new());
    let interpreter = variant.ruby?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(interpreter.version).or_insert_with(|| interpreter.obstacle()).clone()
}

/// Lays the interpreter, its scripts and the module that tells the truth into a case's folder; gives what
/// a person would do.
pub(crate) fn lay_out(scenario: &Scenario, variant: &Variant, dir: &Path) -> Result<Vec<String>> {
    let wrong =
        || Error::NoVariant { scenario: scenario.name.clone(), variant: variant.name.clone() };
    let ruby = variant.ruby.ok_or_else(wrong)?;
    let mut done = vec![ruby.give(&dir.join(&scenario.name))?];
    done.extend(scripts::copy(scenario, "ruby", "rb", dir)?);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_named_by_their_version() {
        assert_eq!(interpreter("ruby3.3").unwrap().suite, "trixie");
        assert!(interpreter("yjit3.1").unwrap().flags.contains(&"--yjit"));
        assert_eq!((interpreter("ruby1.8"), interpreter("ruby")), (None, None));
        assert!(INTERPRETERS.iter().all(|ruby| ruby.word.ends_with(ruby.version)));
    }
}
