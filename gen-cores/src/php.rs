//! Programs of PHP: interpreters of Debian's, and a case's folder with one of them.
//!
//! `php8.2` is that of Debian 12, `php7.4` and `php8.4` those of the releases before and after; `jit8.2` and `jit8.4` run
//! with opcache's compiler, `opcache8.2` with opcache alone. They are programs without symbols but for those that they
//! export. Each is fetched once by apt from the suite that has it, with the libraries that it wants, and run by its own C
//! library.

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
    /// The suite of Debian that has it.
    suite: &'static str,
    /// The program.
    program: &'static str,
    /// The folder of its extensions.
    api: &'static str,
    /// Its packages, and those of the libraries that it is linked with.
    packages: &'static [&'static str],
    /// Options that come before the script.
    pub(crate) flags: &'static [&'static str],
}

/// No configuration of the system's.
const PLAIN: &[&str] = &["-n"];
const OPCACHE: &[&str] = &[
    "-n",
    "-d",
    "extension_dir=lib",
    "-d",
    "zend_extension=opcache",
    "-d",
    "opcache.enable_cli=1",
];
const JIT: &[&str] = &[
    "-n",
    "-d",
    "extension_dir=lib",
    "-d",
    "zend_extension=opcache",
    "-d",
    "opcache.enable_cli=1",
    "-d",
    "opcache.jit_buffer_size=16M",
    "-d",
    "opcache.jit=function",
];

const OLD: Interpreter = Interpreter {
    word: "php7.4",
    suite: "bullseye",
    program: "php7.4",
    api: "20190902",
    packages: &[
        "php7.4-cli",
        "php7.4-opcache",
        "libc6",
        "libxml2",
        "libicu67",
        "liblzma5",
        "libssl1.1",
        "libpcre2-8-0",
        "zlib1g",
        "libsodium23",
        "libargon2-1",
        "libgcc-s1",
        "libstdc++6",
    ],
    flags: PLAIN,
};

const MIDDLE: Interpreter = Interpreter {
    word: "php8.2",
    suite: "bookworm",
    program: "php8.2",
    api: "20220829",
    packages: &[
        "php8.2-cli",
        "php8.2-opcache",
        "libc6",
        "libxml2",
        "libicu72",
        "liblzma5",
        "libssl3",
        "libpcre2-8-0",
        "zlib1g",
        "libsodium23",
        "libargon2-1",
        "libgcc-s1",
        "libstdc++6",
    ],
    flags: PLAIN,
};

const NEW: Interpreter = Interpreter {
    word: "php8.4",
    suite: "trixie",
    program: "php8.4",
    api: "20240924",
    packages: &[
        "php8.4-cli",
        "php8.4-opcache",
        "libc6",
        "libxml2",
        "libicu76",
        "liblzma5",
        "libssl3t64",
        "libzstd1",
        "libpcre2-8-0",
        "zlib1g",
        "libsodium23",
        "libargon2-1",
        "libgcc-s1",
        "libstdc++6",
    ],
    flags: PLAIN,
};

/// What Debian tries out, and may be gone. It has opcache in it.
const NEWEST: Interpreter = Interpreter {
    word: "php8.5",
    suite: "experimental",
    program: "php8.5",
    api: "20250925",
    packages: &[
        "php8.5-cli",
        "libc6",
        "libxml2-16",
        "liblzma5",
        "libssl3t64",
        "libzstd1",
        "libpcre2-8-0",
        "zlib1g",
        "libsodium26",
        "libargon2-1",
        "libgcc-s1",
        "libstdc++6",
        "libedit2",
        "libtinfo6",
        "libbsd0",
        "libmd0",
    ],
    flags: PLAIN,
};

const INTERPRETERS: &[Interpreter] = &[
    OLD,
    MIDDLE,
    NEW,
    NEWEST,
    Interpreter { word: "opcache8.2", flags: OPCACHE, ..MIDDLE },
    Interpreter { word: "jit8.2", flags: JIT, ..MIDDLE },
    Interpreter { word: "jit8.4", flags: JIT, ..NEW },
];

/// Megabytes of the packages of one version, and of what is in them.
const MEGABYTES: (u32, u32) = (20, 75);
/// What stands before the program where it is run.
const ENVIRONMENT: &str = "LD_LIBRARY_PATH=lib";

/// The interpreter that a word of a variant's name asks for: `php8.2`.
pub(crate) fn interpreter(word: &str) -> Option<Interpreter> {
    INTERPRETERS.iter().copied().find(|interpreter| interpreter.word == word)
}

impl Interpreter {
    /// The name and version.
    pub(crate) fn name(self) -> String {
        format!("php {}", self.program.trim_start_matches("php"))
    }

    /// What is to be fetched of it.
    pub(crate) fn download(self) -> Option<Download> {
        let (megabytes, on_disk) = MEGABYTES;
        let name = format!("{} of Debian's {}", self.program, self.suite);
        (!self.is_here()).then_some(Download { name, megabytes, on_disk })
    }

    /// What stands before the program where it is run.
    pub(crate) fn environment(self) -> &'static str {
        ENVIRONMENT
    }

    /// Its folder, beside the cores: all trees that share them share it.
    fn folder(self) -> PathBuf {
        paths::cores_dir().join(".php").join(self.program)
    }

    fn is_here(self) -> bool {
        self.folder().join("packages").is_file()
    }

    /// Why it is not to be had here, if so.
    fn obstacle(self) -> Option<String> {
        let why = |error| format!("Debian's {} cannot be fetched: {error}", self.program);
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
        apt::unpack(self.suite, self.packages, &dir)
    }

    /// Lays the interpreter into a case's folder under the scenario's name, with opcache beside its libraries; 8.5 has
    /// that in itself.
    fn give(self, program: &Path) -> Result<String> {
        let root = self.folder().join("root");
        let done = unpacked::give(&root, &root.join("usr/bin").join(self.program), program)?;
        let opcache = root.join("usr/lib/php").join(self.api).join("opcache.so");
        if opcache.exists() {
            unpacked::link(&opcache, &program.with_file_name("lib").join("opcache.so"))?;
        }
        Ok(done)
    }
}

/// Why the interpreter that a variant needs is not to be had here, if so; asked once in a process.
pub(crate) fn why_not(variant: &Variant) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<&str, Option<String>>> = Mutex::new(BTreeMap::new());
    let interpreter = variant.php?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(interpreter.program).or_insert_with(|| interpreter.obstacle()).clone()
}

/// Lays the interpreter, its scripts and the class that tells the truth into a case's folder; gives what a person would
/// do.
pub(crate) fn lay_out(scenario: &Scenario, variant: &Variant, dir: &Path) -> Result<Vec<String>> {
    let wrong =
        || Error::NoVariant { scenario: scenario.name.clone(), variant: variant.name.clone() };
    let php = variant.php.ok_or_else(wrong)?;
    let mut done = vec![php.give(&dir.join(&scenario.name))?];
    done.extend(scripts::copy(scenario, "php", "php", dir)?);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_named_by_their_version() {
        assert_eq!(interpreter("php7.4").unwrap().suite, "bullseye");
        assert_eq!(interpreter("jit8.4").unwrap().name(), "php 8.4");
        assert_eq!((interpreter("php8.1"), interpreter("php")), (None, None));
    }
}
