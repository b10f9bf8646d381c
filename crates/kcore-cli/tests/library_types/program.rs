//! The programs, built in several ways, and what kcore says of their cores.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use gen_cores::{Program, core_of};
use serde_json::Value;
use tempfile::TempDir;

/// A compiler and what it is told.
pub struct Build {
    compiler: &'static str,
    words: &'static [&'static str],
    source: &'static str,
}

const fn cpp(compiler: &'static str, words: &'static [&'static str]) -> Build {
    Build { compiler, words, source: "library.cpp" }
}

const fn fortran(source: &'static str, words: &'static [&'static str]) -> Build {
    Build { compiler: "gfortran", words, source }
}

pub const BUILDS: &[Build] = &[
    cpp("g++", &["-std=c++20", "-O0"]),
    cpp("g++", &["-std=c++20", "-O2", "-gdwarf-4"]),
    cpp("clang++", &["-std=c++20", "-O0"]),
    cpp("clang++", &["-std=c++20", "-O0", "-stdlib=libc++"]),
    fortran("arrays.f90", &["-O0"]),
    fortran("arrays.f90", &["-O0", "-gdwarf-4"]),
    fortran("procedures.f90", &["-O0"]),
    Build { compiler: "gdc", words: &["-O0"], source: "slices.d" },
    Build { compiler: "rustc", words: &["--edition=2021"], source: "standard.rs" },
];

/// The crates of `crates.rs`.
const CRATES: &str = "\
[package]
name = \"program\"
version = \"0.1.0\"
edition = \"2021\"
[[bin]]
name = \"program\"
path = \"crates.rs\"
[workspace]
[dependencies]
arrayvec = \"0.7\"
bytes = \"1\"
chrono = { version = \"0.4\", default-features = false }
dashmap = \"6\"
indexmap = \"2\"
once_cell = \"1\"
parking_lot = \"0.12\"
smallvec = \"1\"
uuid = \"1\"
";

/// A program that died.
pub struct Asked {
    folder: TempDir,
}

impl Build {
    pub fn name(&self) -> String {
        format!("{} {}", self.compiler, self.words.join(" "))
    }

    /// `None` where the compiler or the library is missing.
    pub fn made(&self) -> Option<Asked> {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library_types");
        let mut compiler = Command::new(self.compiler);
        compiler.args(self.words).args(["-g", "-o", "program"]);
        if self.compiler != "rustc" {
            compiler.arg("-pthread");
        }
        compiler.arg(source.join(self.source)).current_dir(folder.path());
        let Ok(output) = compiler.output() else {
            gen_cores::not_tested(format!("library types: there is no {}", self.compiler));
            return None;
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        if self.words.contains(&"-stdlib=libc++") && errors.contains("file not found") {
            gen_cores::not_tested("library types: there is no libc++");
            return None;
        }
        assert!(output.status.success(), "{}: {errors}", self.name());
        let path = folder.path().join("program");
        Some(Asked::of(folder, &path))
    }
}

/// A program of crates, which cargo fetches; `None` where it cannot.
pub fn of_crates() -> Option<Asked> {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/library_types/crates.rs");
    fs::copy(source, folder.path().join("crates.rs")).unwrap();
    fs::write(folder.path().join("Cargo.toml"), CRATES).unwrap();
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--target-dir", "target"]).current_dir(folder.path());
    let output = cargo.output().ok()?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        gen_cores::not_tested(format!("crates of Rust: {errors}"));
        return None;
    }
    let path = folder.path().join("target/debug/program");
    Some(Asked::of(folder, &path))
}

impl Asked {
    fn of(folder: TempDir, path: &Path) -> Self {
        core_of(&Program { path, args: &[], stack_kib: 8192 }, folder.path()).unwrap();
        Self { folder }
    }

    /// The lines that the program told: what is asked, a path, and the truth.
    pub fn told(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join("output.txt")).unwrap();
        let lines = text.lines().filter(|line| line.matches('\t').count() == 2);
        lines.map(str::to_owned).collect()
    }

    /// What is shown of a path, without the path.
    pub fn text(&self, path: &str) -> String {
        let text = self.kcore(&[], path);
        let text = text.trim();
        text.split_once(" = ").map_or(text, |(_, text)| text).to_owned()
    }

    /// The tree of a path.
    pub fn value(&self, path: &str) -> Value {
        let text = self.kcore(&["--json"], path);
        let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let print = records.find(|record| record["type"] == "print");
        print.map(|record| record["value"].clone()).unwrap_or_default()
    }

    /// Before a path may stand `local:`: no other function of the program has a variable of that name.
    fn kcore(&self, words: &[&str], path: &str) -> String {
        let quote = if path.contains('\'') { '"' } else { '\'' };
        let is_name = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_local = |(before, rest): &(&str, &str)| is_name(before) && !rest.starts_with(':');
        let command = match path.split_once(':').filter(is_local) {
            Some((_, path)) => format!("::walk frame | ::print {quote}{path}{quote}"),
            None => format!("::print {quote}{path}{quote}"),
        };
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        kcore.args(["--no-rc", "-c", &command]).args(words).arg(self.folder.path().join("core"));
        let output = kcore.stdin(Stdio::null()).output().unwrap();
        // Frames without the variable are told of on the standard error.
        let shown = if output.stdout.is_empty() { output.stderr } else { output.stdout };
        String::from_utf8(shown).unwrap()
    }
}
