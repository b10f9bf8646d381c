//! The programs of these tests, built in several ways, and kcore on their cores.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use gen_cores::{Program, core_of};
use serde_json::Value;
use tempfile::TempDir;

/// A program that died.
pub struct Crashed {
    pub build: String,
    core: PathBuf,
    _folder: TempDir,
}

/// Builds a program of these sources and lets it die; `None` without the compiler.
pub fn crashed(compiler: &str, options: &[&str], sources: &[&str]) -> Option<Crashed> {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scopes");
    let sources = sources.iter().map(|source| here.join(source));
    let mut command = Command::new(compiler);
    command.arg("-g").args(options).arg("-o").arg(&program).args(sources);
    let Ok(status) = command.status() else {
        gen_cores::not_tested(format!("scopes: there is no {compiler}"));
        return None;
    };
    let build = format!("{compiler} {}", options.join(" "));
    assert!(status.success(), "{build}");
    let started = Program { path: &program, args: &[], stack_kib: 8192 };
    let core = core_of(&started, folder.path()).unwrap();
    Some(Crashed { build, core, _folder: folder })
}

/// Builds it with both compilers for both versions of DWARF.
pub fn all_builds(sources: &[&str]) -> Vec<Crashed> {
    let compilers = ["gcc", "clang"];
    let builds = compilers.into_iter().flat_map(|it| ["-gdwarf-4", "-gdwarf-5"].map(|v| (it, v)));
    builds.filter_map(|(compiler, dwarf)| crashed(compiler, &[dwarf, "-O0"], sources)).collect()
}

impl Crashed {
    fn kcore(&self, words: &[&str]) -> (String, String) {
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        kcore.arg("--no-rc").args(words).arg(&self.core).stdin(Stdio::null());
        let output = kcore.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    }

    /// What commands print.
    pub fn text(&self, commands: &str) -> String {
        self.kcore(&["-c", commands]).0
    }

    /// What commands say besides their results.
    pub fn notes(&self, commands: &str) -> String {
        self.kcore(&["-c", commands]).1
    }

    /// The tree of a value that `::print` shows last.
    pub fn value(&self, commands: &str) -> Value {
        let (lines, errors) = self.kcore(&["--json", "-c", commands]);
        let mut records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let printed = records.rfind(|record| record["type"] == "print");
        printed.unwrap_or_else(|| panic!("{lines}{errors}"))["value"].clone()
    }
}
