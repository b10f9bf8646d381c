//! Libraries whose program headers do not stand at the start of their file: modules like any other, in cores of each
//! maker and in live processes.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gen_cores::{Program, core_of};
use process::Running;
use rewrite::with_headers_at_end;
use serde_json::Value;
use tempfile::TempDir;

#[path = "../support/process.rs"]
mod process;
mod rewrite;

/// A program and its library, in a folder of their own.
struct Built(TempDir);

impl Built {
    fn new() -> Self {
        let built = Self(tempfile::tempdir().unwrap());
        let placed = ["-shared", "-fPIC", "-Wl,--section-start=.hot=0x200000", "-o"];
        built.compile(&placed, "libhot.so", &["library.c"]);
        let file = fs::read(built.file("libhot.so")).unwrap();
        fs::write(built.file("libhot.so"), with_headers_at_end(file)).unwrap();
        let linked = ["-o"];
        let rest = ["program.c", "-L.", "-lhot", "-Wl,-rpath,$ORIGIN"];
        // The linker reads sections, as which nothing has moved.
        built.compile(&linked, "program", &rest);
        built
    }

    fn compile(&self, options: &[&str], to: &str, rest: &[&str]) {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/moved_headers");
        let of_source = |word: &&str| match word.ends_with(".c") {
            true => sources.join(word).display().to_string(),
            false => (*word).to_owned(),
        };
        let mut compiler = Command::new("cc");
        compiler.args(["-g", "-O1", "-fno-omit-frame-pointer"]).args(options).arg(to);
        compiler.args(rest.iter().map(of_source)).current_dir(self.0.path());
        assert!(compiler.status().unwrap().success(), "{to}");
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self) -> Running {
        let (running, _, output) = Running::start(&mut Command::new(self.file("program")));
        BufReader::new(output).read_line(&mut String::new()).unwrap();
        running
    }

    /// The core that the kernel writes.
    fn kernel_core(&self) -> PathBuf {
        let program = self.file("program");
        let program = Program { path: &program, args: &["abort"], stack_kib: 8192 };
        core_of(&program, self.0.path()).unwrap()
    }
}

fn save(running: &Running, to: &Path, options: &[&str]) {
    let mut save = Command::new(env!("CARGO_BIN_EXE_kcore"));
    save.args(["save", &running.pid()]).args(options).arg("-o").arg(to);
    assert!(save.output().unwrap().status.success(), "{}", to.display());
}

fn records(words: &[&str]) -> Vec<Value> {
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    kcore.args(["--no-rc", "--json", "-c", "::objects; ::walk thread | ::stack"]).args(words);
    let output = kcore.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn has_module(records: &[Value], name: &str) -> bool {
    records.iter().any(|record| record["type"] != "stack" && record.to_string().contains(name))
}

fn has_library(records: &[Value]) -> bool {
    has_module(records, "libhot.so")
}

/// The library is there, and the stack goes through it to its end, every frame proven.
fn assert_whole(what: &str, words: &[&str]) {
    let records = records(words);
    assert!(has_library(&records), "{what}: {records:?}");
    let stack = records.iter().find(|record| record["type"] == "stack").unwrap();
    let frames = stack["frames"].as_array().unwrap();
    let names: Vec<&str> = frames.iter().filter_map(|frame| frame["function"].as_str()).collect();
    let hot =
        names.iter().position(|name| *name == "hot").unwrap_or_else(|| panic!("{what}: {names:?}"));
    assert_eq!(names[hot + 1..hot + 3], ["cold", "main"], "{what}");
    assert_eq!(names.last(), Some(&"_start"), "{what}");
    let by_guess = frames.iter().filter(|frame| frame["trust"] == "scan").count();
    assert_eq!(by_guess, 0, "{what}: {frames:?}");
}

#[test]
fn a_core_of_the_kernels_has_the_library() {
    let built = Built::new();
    let core = built.kernel_core();
    assert_whole("the kernel's", &[core.to_str().unwrap()]);
    fs::remove_file(built.file("libhot.so")).unwrap();
    assert!(has_library(&records(&[core.to_str().unwrap()])), "its file is gone");
}

#[test]
fn a_live_process_and_what_is_saved_of_it_have_the_library() {
    let built = Built::new();
    let running = built.run();
    assert_whole("a snapshot", &["-p", &running.pid()]);
    let [saved, all, dumped] = ["saved", "all", "gcore"].map(|name| built.file(name));
    save(&running, &saved, &[]);
    save(&running, &all, &["--all"]);
    let mut gcore = Command::new("gcore");
    let done = gcore.arg("-o").arg(&dumped).arg(running.pid()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let dumped = format!("{}.{}", dumped.display(), running.pid());
    for core in [saved.to_str().unwrap(), &dumped] {
        assert_whole(core, &[core]);
    }
    fs::remove_file(built.file("libhot.so")).unwrap();
    assert_whole("all saved, without the file", &[all.to_str().unwrap()]);
    assert_whole("a snapshot, without the file", &["-p", &running.pid()]);
    for core in [saved.to_str().unwrap(), &dumped] {
        assert!(has_library(&records(&[core])), "{core}, without the file");
    }
}

/// BOLT rewrites the toolchain's own libraries, where it is used for the host.
#[test]
fn a_compiler_has_its_libraries() {
    let mut rustc = Command::new("rustc");
    let (running, _input, _) = Running::start(rustc.args(["--crate-type=lib", "-"]));
    let reads = |records: &[Value]| records.iter().any(|it| it["waits_in"] == "read");
    let is_at = |records: &[Value]| has_module(records, "librustc_driver") && reads(records);
    let start = Instant::now();
    let records = loop {
        let records = records(&["-p", &running.pid()]);
        if is_at(&records) {
            break records;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{records:?}");
    };
    for stack in records.iter().filter(|record| record["type"] == "stack") {
        let frames = stack["frames"].as_array().unwrap();
        let last = frames.last().unwrap()["function"].as_str().unwrap_or_default();
        assert!(["_start", "__clone3", "clone3", "__clone", "clone"].contains(&last), "{stack}");
        assert!(frames.iter().all(|frame| frame["trust"] != "scan"), "{stack}");
    }
}
