//! Minidumps that another program's writer makes of a process that knows its own truth.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod core_parts;
mod machines;
#[path = "../support/process.rs"]
mod process;
mod symbols;
mod written;

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use minidump_writer::minidump_writer::MinidumpWriterConfig;
use process::Running;
use serde_json::Value;
use tempfile::TempDir;

/// Streams of a minidump.
const MAPS: u32 = 0x4767_0009;
const SYSTEM: u32 = 7;
const EXCEPTION: u32 = 6;

/// A minidump, and what its process said.
struct Dump {
    folder: TempDir,
    program: PathBuf,
    pid: u64,
    worker: u64,
}

impl Dump {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("target");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/minidumps/target.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-g", "-O1", "-pthread", "-o"]).arg(&program).arg(source);
        assert!(compiler.status().unwrap().success());
        let (running, _input, output) = Running::start(&mut Command::new(&program));
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let worker = lines.next().unwrap().parse().unwrap();
        let said = lines.next().unwrap();
        assert_eq!(said.split(' ').nth(1).unwrap(), format!("{worker}"));
        let pid = running.pid().parse().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        let mut file = File::create(folder.path().join("app.dmp")).unwrap();
        let blamed = i32::try_from(worker).unwrap();
        MinidumpWriterConfig::new(i32::try_from(pid).unwrap(), blamed).write(&mut file).unwrap();
        Self { folder, program, pid, worker }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("app.dmp")
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes(fs::read(self.path()).unwrap()[at..at + 4].try_into().unwrap())
    }

    /// Where the directory names a stream: type, length and offset.
    fn entry(&self, kind: u32) -> usize {
        let (count, first) = (self.word(8) as usize, self.word(12) as usize);
        let mut entries = (0..count).map(|number| first + number * 12);
        entries.find(|at| self.word(*at) == kind).unwrap()
    }

    /// Where a stream lies in the file.
    fn stream(&self, kind: u32) -> Range<usize> {
        let at = self.entry(kind);
        let (len, start) = (self.word(at + 4), self.word(at + 8));
        start as usize..(start + len) as usize
    }

    fn write(&self, at: usize, bytes: &[u8]) {
        let mut all = fs::read(self.path()).unwrap();
        all[at..at + bytes.len()].copy_from_slice(bytes);
        fs::write(self.path(), all).unwrap();
    }

    fn run(&self, words: &[&str]) -> (String, String, Option<i32>) {
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        kcore.arg("--no-rc").args(words).arg(self.path()).stdin(Stdio::null());
        let output = kcore.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr), output.status.code())
    }

    fn json(&self, command: &str, kind: &str) -> Vec<Value> {
        let (text, _, _) = self.run(&["--json", "-c", command]);
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.filter(|record| record["type"] == kind).collect()
    }

    fn text(&self, command: &str) -> String {
        let (out, errors, _) = self.run(&["-c", command]);
        out + &errors
    }
}

#[test]
fn a_minidump_is_read_as_a_core() {
    let dump = Dump::new();
    let status = &dump.json("::status", "status")[0];
    assert_eq!(status["pid"], dump.pid);
    assert_eq!(status["threads"], 2);
    assert_eq!(status["signal"], Value::Null, "the dump was asked for: {status}");
    let doubts = status["doubts"].to_string();
    assert!(doubts.contains("the core is a minidump"), "{doubts}");
    let stacks = dump.json("::walk thread | ::stack", "stack");
    let of = |tid: u64| stacks.iter().find(|stack| stack["tid"] == tid).unwrap();
    let names = |stack: &Value| -> Vec<String> {
        let frames = stack["frames"].as_array().unwrap();
        frames.iter().filter_map(|it| it["function"].as_str().map(ToOwned::to_owned)).collect()
    };
    let worker = of(dump.worker);
    assert_eq!(worker["name"], "pool-1");
    let functions = names(worker);
    let own: Vec<_> =
        functions.iter().filter(|it| it.starts_with("wait_") || *it == "work").collect();
    assert_eq!(own, ["wait_inner", "wait_outer", "work"], "{functions:?}");
    assert!(names(of(dump.pid)).iter().any(|name| name == "main"), "{stacks:?}");
    let line =
        include_str!("target.c").lines().position(|line| line.contains("WAITS")).unwrap() + 1;
    let inner = worker["frames"].as_array().unwrap().iter();
    let inner = inner.clone().find(|frame| frame["function"] == "wait_inner").unwrap();
    assert_eq!(inner["line"], line as u64);
    // Modules are known by the build-ids that the dump has: their memory is not in it.
    let modules = dump.json("::objects", "object");
    let program = modules.iter().find(|it| it["executable"] == true).unwrap();
    assert_eq!(program["file_state"], "verified", "{program}");
    assert_eq!(program["path"], dump.program.display().to_string());
}

#[test]
fn the_signal_and_its_address_are_those_of_the_exception() {
    let dump = Dump::new();
    // Thread, padding, then number, flags, a pointer to another record, and the address.
    let record = dump.stream(EXCEPTION).start + 8;
    dump.write(record, &11_u32.to_le_bytes());
    dump.write(record + 4, &1_u32.to_le_bytes());
    dump.write(record + 16, &0x10_u64.to_le_bytes());
    let status = &dump.json("::status", "status")[0];
    assert_eq!(status["signal"]["name"], "SIGSEGV");
    assert_eq!(status["signal"]["code"], "SEGV_MAPERR");
    assert_eq!(status["signal"]["address"], "0x10");
    assert_eq!(status["crashed_tid"], dump.worker);
}

#[test]
fn a_code_that_was_not_written_is_no_sender() {
    let dump = Dump::new();
    let record = dump.stream(EXCEPTION).start + 8;
    dump.write(record, &11_u32.to_le_bytes());
    dump.write(record + 4, &0_u32.to_le_bytes());
    dump.write(record + 16, &0x10_u64.to_le_bytes());
    let info = &dump.json("::siginfo", "siginfo")[0];
    assert_eq!((&info["code"], &info["address"]), (&Value::Null, &"0x10".into()), "{info}");
    assert_eq!(info["sender_pid"], Value::Null, "{info}");
    let text = dump.text("::status");
    assert!(text.contains("SIGSEGV at address 0x10: fault (its code was not written)"), "{text}");
}

#[test]
fn without_mappings_the_list_of_modules_tells_what_was_code() {
    let dump = Dump::new();
    dump.write(dump.entry(MAPS), &0x4767_ffff_u32.to_le_bytes());
    let modules = dump.json("::objects", "object");
    let program = dump.program.display().to_string();
    assert!(modules.iter().any(|module| module["path"] == program), "{modules:?}");
    let text = dump.text(&format!("0t{}::stack", dump.worker));
    for function in ["wait_inner", "wait_outer", "work"] {
        assert!(text.contains(function), "{text}");
    }
}

#[test]
fn what_is_not_in_a_minidump_is_said_to_be_not_dumped() {
    let dump = Dump::new();
    let modules = dump.json("::objects", "object");
    let library =
        modules.iter().find(|it| it["name"].as_str().unwrap().starts_with("libc")).unwrap();
    // Writable data of a library is in no dump, and its file has other bytes.
    let limit = library["limit"].as_str().unwrap();
    let text = dump.text(&format!("{}-8/J", limit.trim_start_matches("0x")));
    assert!(text.contains("was not dumped"), "{text}");
    assert!(dump.text("8/J").contains("no mapping"), "{}", dump.text("8/J"));
}

#[test]
fn another_build_of_the_program_is_refused() {
    let dump = Dump::new();
    let source = dump.folder.path().join("other.c");
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let mut compiler = Command::new("cc");
    fs::remove_file(&dump.program).unwrap();
    assert!(compiler.arg("-o").arg(&dump.program).arg(source).status().unwrap().success());
    let text = dump.text("::stack; ::status");
    assert!(text.contains("is another build"), "{text}");
    assert!(!text.contains("wait_inner"), "{text}");
}

#[test]
fn dumps_of_other_systems_and_cut_ones_are_refused_in_words() {
    let dump = Dump::new();
    let whole = fs::read(dump.path()).unwrap();
    for len in [4, 31, 32, 100, 1000, whole.len() / 2, whole.len() - 100] {
        fs::write(dump.path(), &whole[..len]).unwrap();
        let (_, errors, status) = dump.run(&["-c", "::status; ::walk thread | ::stack; ::objects"]);
        assert!(!errors.contains("panicked"), "{len}: {errors}");
        assert!(matches!(status, Some(0..=2)), "{len}: {errors}");
    }
    fs::write(dump.path(), whole).unwrap();
    dump.write(dump.stream(SYSTEM).start + 20, &2_u32.to_le_bytes());
    let (_, errors, status) = dump.run(&["-c", "::status"]);
    assert_eq!(status, Some(2));
    assert!(errors.to_lowercase().contains("a minidump of windows"), "{errors}");
    dump.write(dump.stream(SYSTEM).start + 20, &0x8201_u32.to_le_bytes());
    dump.write(dump.stream(SYSTEM).start, &2_u16.to_le_bytes());
    let (_, errors, _) = dump.run(&["-c", "::status"]);
    assert!(errors.contains("a minidump of machine 0x2: kcore reads those of x86,"), "{errors}");
}
