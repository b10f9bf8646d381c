//! Programs that nobody here wrote, stopped in their midst: gdb as a second opinion of all their variables.
//!
//! Every variable of every frame of every thread, and those outside of functions, are asked of both; then each leaf again
//! by the words with which it is displayed. `gdb_programs.py` compares and counts.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

/// What must be compared at the least, over all programs.
const FEWEST: u64 = 100_000;

/// A program of C or C++.
struct Program {
    name: &'static str,
    /// The package that has its sources, and the folder in it.
    package: (&'static str, &'static str),
    /// Folders with sources, and what their names do not end with.
    sources: (&'static [&'static str], &'static [&'static str]),
    flags: &'static [&'static str],
}

const PROGRAMS: [Program; 4] = [
    Program {
        name: "lua.c",
        package: ("lua-src", "lua-5.4.9"),
        sources: (&["."], &["/lua.c", "/luac.c", "/onelua.c", "/ltests.c"]),
        flags: &["-lm"],
    },
    Program {
        name: "sqlite.c",
        package: ("libsqlite3-sys", "sqlite3"),
        sources: (&["."], &["/wasm32-wasi-vfs.c"]),
        flags: &["-lpthread", "-lm", "-ldl"],
    },
    Program {
        name: "zstd.c",
        package: ("zstd-sys", "zstd/lib"),
        sources: (&["common", "compress"], &[]),
        flags: &["-DZSTD_MULTITHREAD", "-DZSTD_DISABLE_ASM", "-lpthread"],
    },
    Program {
        name: "leveldb.cc",
        package: ("leveldb-sys", "deps/leveldb-1.22"),
        sources: (
            &["db", "table", "util"],
            &[
                "_test.c",
                "testutil.cc",
                "testharness.cc",
                "windows.cc",
                "_bench.cc",
                "leveldbutil.cc",
                "/c.cc",
            ],
        ),
        flags: &["-std=c++17", "-DLEVELDB_PLATFORM_POSIX=1", "-lpthread"],
    },
];

/// How programs are built: names, compilers of C and C++, and flags.
const WAYS: [(&str, &str, &str, &[&str]); 7] = [
    ("gcc-O0", "gcc", "g++", &["-O0", "-gdwarf-5"]),
    ("gcc-Og", "gcc", "g++", &["-Og", "-gdwarf-4"]),
    ("gcc-O2", "gcc", "g++", &["-O2", "-gdwarf-5"]),
    ("gcc-lto", "gcc", "g++", &["-O2", "-flto", "-gdwarf-5"]),
    ("clang-O0", "clang", "clang++", &["-O0", "-gdwarf-4"]),
    ("clang-O2", "clang", "clang++", &["-O2", "-gdwarf-5"]),
    ("libcxx-O2", "clang", "clang++", &["-O2", "-gdwarf-5", "-stdlib=libc++"]),
];

/// What gdb tells otherwise: the kind of the comparison, a part of where and of what, and why kcore is right.
const DIFFERS: &[(&str, &str, &str, &str)] = &[
    (
        "frame",
        "pthread_kill at ",
        "kcore alone has it",
        "it jumped to `__pthread_kill_implementation`: gdb shows what was inlined into it, not itself",
    ),
    (
        "value",
        "gcc-lto: luaD_pcall: ",
        "optimized out",
        "gdb does not find the call in another unit, which passes a constant and an address of its frame",
    ),
    (
        "value",
        "libcxx-O2: std::__1::piecewise_construct",
        "optimized out",
        "a constant of a class without members, of which nothing can be missing",
    ),
    ("value", "gcc-lto: luaV_execute: L", "optimized out", "as in luaD_pcall"),
    (
        "pointer",
        "zstd/gcc-O2: ZSTD_RowFindBestMatch: ip",
        "to gdb 0xd",
        "gdb takes for the value at entry what another call passed; its callers and `$rsi` have kcore's",
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/values/programs")
}

/// Where the packages lie, by name; empty where they cannot be fetched.
fn packages() -> BTreeMap<String, PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version", "1", "--locked"]);
    if env::var_os(gen_cores::NO_DOWNLOADS).is_some() {
        cargo.arg("--offline");
    }
    let output = cargo.arg("--manifest-path").arg(folder().join("Cargo.toml")).output().unwrap();
    let Ok(told) = serde_json::from_slice::<Json>(&output.stdout) else { return BTreeMap::new() };
    let package = |package: &Json| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        (package["name"].as_str().unwrap().to_owned(), manifest.parent().unwrap().to_owned())
    };
    told["packages"].as_array().unwrap().iter().map(package).collect()
}

/// Files of C or C++ in a folder that do not end so.
fn sources(folder: &Path, without: &[&str]) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_source = |path: &PathBuf| {
        let name = path.display().to_string();
        let is_code = [".c", ".cc"].iter().any(|end| name.ends_with(end));
        is_code && !without.iter().any(|end| name.ends_with(end))
    };
    let mut files: Vec<_> = files.filter(is_source).collect();
    files.sort();
    files
}

/// A folder for a program and its core.
fn place(name: &str, way: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs").join(name).join(way);
    drop(fs::remove_dir_all(&place));
    fs::create_dir_all(place.join("port")).unwrap();
    place
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Program {
    /// Builds it in a folder, which is the answer.
    fn build(&self, package: &Path, way: &(&str, &str, &str, &[&str])) -> PathBuf {
        let (words, c, cxx, options) = *way;
        let stem = self.name.split('.').next().unwrap();
        let (place, from) = (place(stem, words), package.join(self.package.1));
        configure(&from, &place);
        let mut compiler = Command::new(if self.name.ends_with(".c") { c } else { cxx });
        compiler.current_dir(&place).args(["-g", "-w", "-o", stem]).args(options);
        compiler.arg(folder().join(self.name));
        for part in self.sources.0 {
            compiler.args(sources(&from.join(part), self.sources.1));
        }
        compiler.arg("-I.").arg("-I").arg(&from).arg("-I").arg(from.join("include"));
        run(compiler.args(self.flags));
        place
    }
}

/// Says of a package that is configured before it is built that nothing optional is there.
fn configure(from: &Path, place: &Path) {
    let Ok(template) = fs::read_to_string(from.join("port/port_config.h.in")) else { return };
    let lines = template.lines().map(|line| match line.strip_prefix("#cmakedefine01 ") {
        Some(name) => format!("#define {name} 0\n"),
        None => format!("{line}\n"),
    });
    fs::write(place.join("port/port_config.h"), lines.collect::<String>()).unwrap();
}

/// Builds the program of Rust.
fn service(way: &str, options: &[&str]) -> PathBuf {
    let place = place("service", way);
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked", "--config", "profile.release.debug=2"]);
    cargo.args(options).arg("--target-dir").arg(place.join("target"));
    run(cargo.arg("--manifest-path").arg(folder().join("Cargo.toml")));
    let folder = if options.contains(&"--release") { "release" } else { "debug" };
    fs::copy(place.join("target").join(folder).join("service"), place.join("service")).unwrap();
    place
}

/// Runs a program until it stops, and makes a core of it.
fn stop(place: &Path, program: &str) {
    let mut gdb = Command::new("gdb");
    gdb.args(["-batch", "-nx", "-iex", "set debuginfod enabled off"]);
    gdb.args(["-ex", "run", "-ex", "generate-core-file core"]).arg(format!("./{program}"));
    run(gdb.current_dir(place));
    assert!(place.join("core").exists(), "{program} did not stop");
}

/// What the two tell alike and what not, by kind; and each difference: kind, where, what.
#[derive(Default)]
struct Opinions {
    counts: BTreeMap<String, (u64, u64)>,
    differences: Vec<[String; 3]>,
}

impl Opinions {
    fn ask(&mut self, place: &Path, program: &str) {
        let script = folder().with_file_name("gdb_programs.py");
        let mut gdb = Command::new("gdb");
        gdb.args(["-batch", "-nx", "-iex", "set debuginfod enabled off", "-x"]).arg(script);
        gdb.args([program, "core"]).current_dir(place).env("KCORE", env!("CARGO_BIN_EXE_kcore"));
        let output = gdb.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("COUNT\t"), "{place:?}: {output:?}");
        for line in text.lines() {
            match line.split('\t').collect::<Vec<_>>().as_slice() {
                ["COUNT", kind, equal, other] => {
                    let counts = self.counts.entry((*kind).to_owned()).or_default();
                    counts.0 += equal.parse::<u64>().unwrap();
                    counts.1 += other.parse::<u64>().unwrap();
                }
                ["DIFFERS", kind, at, what] => {
                    let at = format!("{}: {at}", place.display());
                    self.differences.push([(*kind).to_owned(), at, (*what).to_owned()]);
                }
                _ => {}
            }
        }
    }

    /// Differences that no row explains.
    fn unexplained(&self) -> Vec<String> {
        let is_explained = |[kind, at, what]: &&[String; 3]| {
            let mut rows = DIFFERS.iter();
            !rows.any(|row| row.0 == kind && at.contains(row.1) && what.contains(row.2))
        };
        let lines = self.differences.iter().filter(is_explained);
        lines.map(|parts| parts.join(": ")).collect()
    }
}

#[test]
fn gdb_tells_the_same_of_programs_that_nobody_here_wrote() {
    if gen_cores::is_short_run() {
        return gen_cores::not_tested("programs from public sources: they take long to build");
    }
    let packages = packages();
    if packages.is_empty() {
        return gen_cores::not_tested("programs from public sources: they cannot be fetched");
    }
    let mut opinions = Opinions::default();
    for program in &PROGRAMS {
        for way in
            WAYS.iter().filter(|way| program.name.ends_with(".cc") || !way.0.contains("libcxx"))
        {
            let place = program.build(&packages[program.package.0], way);
            let stem = program.name.split('.').next().unwrap();
            stop(&place, stem);
            opinions.ask(&place, stem);
        }
    }
    for (way, options) in [("debug", [].as_slice()), ("release", &["--release"])] {
        let place = service(way, options);
        stop(&place, "service");
        opinions.ask(&place, "service");
    }
    for (kind, (equal, different)) in &opinions.counts {
        println!("{kind}: {equal} equal, {different} different");
    }
    let total: u64 = opinions.counts.values().map(|(equal, _)| equal).sum();
    assert!(total >= FEWEST, "{total} comparisons");
    let lines = opinions.unexplained();
    assert!(lines.is_empty(), "{} of {total} differ:\n{}", lines.len(), lines.join("\n"));
}
