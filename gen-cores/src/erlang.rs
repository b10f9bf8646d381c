//! Programs of Erlang: virtual machines of Debian's, and a case's folder with one of them.
//!
//! `erlang25` is that of Debian 12, `erlang27` that of Debian 13: stripped programs with a JIT. Each is fetched once by apt
//! from the suite that has it, with the libraries that it wants, and run by its own C library with its own modules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::apt;
use crate::error::AtPath;
use crate::lock::Lock;
use crate::{Download, Error, Result, Scenario, Variant, few, paths, scripts, unpacked};

/// A virtual machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Machine {
    /// The word of a variant's name that asks for it: its release behind `erlang`.
    word: &'static str,
    /// The suite of Debian that has it.
    suite: &'static str,
}

const MACHINES: &[Machine] = &[
    Machine { word: "erlang25", suite: "bookworm" },
    Machine { word: "erlang27", suite: "trixie" },
];

/// The package of the program, and the libraries that it is linked with.
const PACKAGES: &[&str] =
    &["erlang-base", "libc6", "libgcc-s1", "libstdc++6", "libtinfo6", "zlib1g"];
/// Megabytes of the packages of one version, and of what is in them.
const MEGABYTES: (u32, u32) = (14, 50);
/// Options of the virtual machine: few schedulers, and little memory that it only reserves.
const FLAGS: [&str; 8] = ["-S", "2:2", "-SDcpu", "1:1", "-SDio", "2", "-MIscs", "32"];
/// The program compiles itself.
const START: &str = "[{ok, _} = compile:file(Module) || Module <- [truth, main]], main:start().";
/// What the virtual machine starts: that by which it starts other programs, and that which looks up names of hosts.
const HELPERS: [&str; 2] = ["erl_child_setup", "inet_gethost"];

/// The virtual machine that a word of a variant's name asks for: `erlang25`.
pub(crate) fn machine(word: &str) -> Option<Machine> {
    MACHINES.iter().copied().find(|machine| machine.word == word)
}

impl Machine {
    fn version(self) -> &'static str {
        self.word.trim_start_matches("erlang")
    }

    /// The name and version.
    pub(crate) fn name(self) -> String {
        format!("erlang {}", self.version())
    }

    /// What is to be fetched of it.
    pub(crate) fn download(self) -> Option<Download> {
        let (megabytes, on_disk) = MEGABYTES;
        let name = format!("erlang {} of Debian's {}", self.version(), self.suite);
        (!self.is_here()).then_some(Download { name, megabytes, on_disk })
    }

    /// What stands before the program where it is run: where it finds its helpers and its modules, by whole paths.
    pub(crate) fn environment(self, dir: &Path) -> Vec<String> {
        let dir = dir.display();
        let fixed = ["LD_LIBRARY_PATH=lib", "EMU=beam", "PROGNAME=erl"].map(str::to_owned);
        let places =
            [format!("BINDIR={dir}"), format!("ROOTDIR={dir}/erlang"), format!("HOME={dir}")];
        fixed.into_iter().chain(places).collect()
    }

    /// The words behind the program: there is no script among them.
    pub(crate) fn words(self, dir: &Path) -> Vec<String> {
        let (dir, root) = (dir.display().to_string(), dir.join("erlang").display().to_string());
        let places = ["--", "-root", &root, "-bindir", &dir, "-progname", "erl"];
        let rest = ["--", "-home", &dir, "-noshell", "-noinput", "-eval", START];
        FLAGS.into_iter().chain(places).chain(rest).map(str::to_owned).collect()
    }

    /// Its folder, beside the cores: all trees that share them share it.
    fn folder(self) -> PathBuf {
        paths::cores_dir().join(".erlang").join(self.word)
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
        apt::unpack(self.suite, PACKAGES, &dir)
    }

    /// Lays the virtual machine into a case's folder under the scenario's name, with its helpers and its modules.
    fn give(self, program: &Path) -> Result<Vec<String>> {
        let root = self.folder().join("root");
        let erlang = root.join("usr/lib/erlang");
        let bin = programs(&erlang)?;
        let mut done = vec![unpacked::give(&root, &bin.join("beam.smp"), program)?];
        for helper in HELPERS {
            done.push(unpacked::write(&bin.join(helper), &program.with_file_name(helper))?);
        }
        unpacked::link(&erlang, &program.with_file_name("erlang"))?;
        Ok(done)
    }
}

/// The folder of programs, whose name has the version of the virtual machine.
fn programs(erlang: &Path) -> Result<PathBuf> {
    for entry in std::fs::read_dir(erlang).at(erlang)? {
        let path = entry.at(erlang)?.path();
        if path.join("bin/beam.smp").is_file() {
            return Ok(path.join("bin"));
        }
    }
    Err(Error::Toolchain { path: erlang.to_owned(), reason: "has no virtual machine".into() })
}

/// Why the virtual machine that a variant needs is not to be had here, if so; asked once in a process.
pub(crate) fn why_not(variant: &Variant) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<&str, Option<String>>> = Mutex::new(BTreeMap::new());
    let machine = variant.erlang?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(machine.word).or_insert_with(|| machine.obstacle()).clone()
}

/// Lays the virtual machine, its modules and the program's source into a case's folder; gives what a person would do.
pub(crate) fn lay_out(scenario: &Scenario, variant: &Variant, dir: &Path) -> Result<Vec<String>> {
    let wrong =
        || Error::NoVariant { scenario: scenario.name.clone(), variant: variant.name.clone() };
    let machine = variant.erlang.ok_or_else(wrong)?;
    let mut done = machine.give(&dir.join(&scenario.name))?;
    done.extend(scripts::copy(scenario, "erlang", "erl", dir)?);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_machines_are_named_by_their_release() {
        assert_eq!(machine("erlang25").unwrap().suite, "bookworm");
        assert_eq!(machine("erlang27").unwrap().name(), "erlang 27");
        assert_eq!((machine("erlang24"), machine("erlang")), (None, None));
    }
}
