//! `kcore catch`: the moment of an event, and a process that runs on as if nobody had looked.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use process::{Running, compiled};
use serde_json::Value;

#[path = "../support/process.rs"]
mod process;

/// What a test waits for at most until the target, or kcore, is as it should be.
const PATIENCE: Duration = Duration::from_secs(60);

static TARGET: LazyLock<PathBuf> = LazyLock::new(|| compiled("catch/target.c"));

/// The process in which things happen.
struct Target {
    running: Running,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Target {
    fn start() -> Self {
        let (running, input, output) = Running::start(&mut Command::new(TARGET.as_path()));
        let mut target = Self { running, input, output: BufReader::new(output) };
        assert!(target.line().starts_with("ready"));
        target
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    fn make(&mut self, letter: u8) {
        self.input.write_all(&[letter]).unwrap();
    }

    /// Makes something happen; the answer is the thread that does it.
    fn begin(&mut self, letter: u8) -> u64 {
        self.make(letter);
        self.line().split(' ').nth(1).unwrap().trim().parse().unwrap()
    }

    fn status(&self, key: &str) -> String {
        let text = fs::read_to_string(format!("/proc/{}/status", self.running.pid())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.trim_start_matches(':').trim().to_owned()
    }

    /// That it is not traced, not stopped, and does what it is told.
    fn runs_on(&mut self) {
        assert_eq!(self.status("TracerPid"), "0");
        self.make(b'h');
        while !self.line().starts_with("handled") {}
    }

    /// Begins to wait for an event, and returns once all threads are traced.
    fn caught_by(&self, words: &[&str]) -> Child {
        let kcore = kcore(&self.running.pid(), words).spawn().unwrap();
        let tasks = format!("/proc/{}/task", self.running.pid());
        let is_traced = |task: &Path| {
            let text = fs::read_to_string(task.join("status")).unwrap_or_default();
            !text.contains("TracerPid:\t0\n")
        };
        until(|| fs::read_dir(&tasks).unwrap().flatten().all(|task| is_traced(&task.path())));
        kcore
    }
}

fn until(mut happens: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happens() {
        assert!(start.elapsed() < PATIENCE, "it does not come");
        thread::sleep(Duration::from_millis(2));
    }
}

fn kcore(pid: &str, words: &[&str]) -> Command {
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    kcore.args(["catch", "--within", "60", "--json", pid]).args(words);
    kcore.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    kcore
}

/// The records of one kind that kcore answered.
fn records(output: &Output, kind: &str) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    let records = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.filter(|record| record["type"] == kind).collect()
}

fn functions(output: &Output) -> Vec<String> {
    let stacks = records(output, "stack");
    let frames = stacks[0]["frames"].as_array().unwrap();
    frames.iter().map(|frame| frame["function"].as_str().unwrap_or("?").to_owned()).collect()
}

#[test]
fn a_failed_system_call_is_caught_where_it_failed() {
    let mut target = Target::start();
    let tid = target.begin(b'b');
    for event in ["close=EBADF", "close=any"] {
        let output = kcore(&target.running.pid(), &[event, "-c", "::stack"]).output().unwrap();
        let caught = &records(&output, "caught_event")[0];
        assert_eq!(
            (&caught["event"], &caught["call"], &caught["error"], caught["thread"].as_u64()),
            (&"call".into(), &"close".into(), &"EBADF".into(), Some(tid))
        );
        let functions = functions(&output);
        assert_eq!(functions[1..3], ["close_twice", "closes"], "{functions:?}");
    }
    target.runs_on();
}

#[test]
fn a_function_is_caught_where_it_is_entered() {
    let mut target = Target::start();
    let tid = target.begin(b'f');
    let output = kcore(&target.running.pid(), &["rarely()", "-c", "::stack"]).output().unwrap();
    let caught = &records(&output, "caught_event")[0];
    assert_eq!((&caught["function"], caught["thread"].as_u64()), (&"rarely".into(), Some(tid)));
    let frame = &records(&output, "stack")[0]["frames"][0];
    assert_eq!((&frame["function"], &frame["pc"]), (&"rarely".into(), &caught["address"]));
    assert_eq!(frame["args"][0]["value"]["value"], 4711, "{frame}");
    target.runs_on();
}

#[test]
fn threads_that_are_made_meanwhile_are_caught_too() {
    let mut target = Target::start();
    let waiting = target.caught_by(&["close=EBADF", "-c", "::stack"]);
    let tid = target.begin(b'b');
    let output = waiting.wait_with_output().unwrap();
    assert_eq!(records(&output, "caught_event")[0]["thread"].as_u64(), Some(tid));
    target.runs_on();
}

#[test]
fn a_signal_is_caught_before_it_is_delivered_and_is_not_lost() {
    let mut target = Target::start();
    let pid = target.running.pid();
    for (event, sent) in [("SIGUSR1", "-USR1"), ("USR2", "-USR2")] {
        let waiting = target.caught_by(&[event, "-c", "::status"]);
        assert!(Command::new("kill").args([sent, &pid]).status().unwrap().success());
        let output = waiting.wait_with_output().unwrap();
        let caught = &records(&output, "caught_event")[0];
        assert_eq!(caught["signal"], format!("SIG{}", &sent[1..]), "{caught}");
    }
    target.make(b'h');
    assert_eq!(target.line(), "handled 10\n", "its handler ran");
}

#[test]
fn a_core_of_the_moment_before_it_dies_is_saved() {
    let mut target = Target::start();
    let core = Path::new(env!("CARGO_TARGET_TMPDIR")).join("caught.core");
    // A signal that is handled ends nothing.
    let waiting = target.caught_by(&["fatal", "-o", core.to_str().unwrap()]);
    let pid = target.running.pid();
    assert!(Command::new("kill").args(["-USR1", &pid]).status().unwrap().success());
    target.make(b'h');
    target.line();
    target.make(b'v');
    let output = waiting.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains(&format!("thread {pid} is about to take SIGSEGV")), "{said}");
    let status = target.running.0.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(11));
    let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
    let output = kcore.args(["--json", "-c", "::status"]).arg(&core).output().unwrap();
    let status = &records(&output, "status")[0];
    assert_eq!(
        (&status["signal"]["name"], &status["signal"]["address"]),
        (&"SIGSEGV".into(), &"0x8".into()),
        "{status}"
    );
    assert_eq!(status["threads"], 4, "{status}");
    fs::remove_file(core).unwrap();
}

#[test]
fn the_end_of_a_process_is_caught_with_all_its_threads() {
    for event in ["failure", "exit"] {
        let mut target = Target::start();
        let waiting = target.caught_by(&[event, "-c", "::stack; ::threads"]);
        target.make(b'x');
        let output = waiting.wait_with_output().unwrap();
        let caught = &records(&output, "caught_event")[0];
        assert_eq!((&caught["event"], &caught["status"]), (&"exit".into(), &3.into()), "{caught}");
        assert!(functions(&output).contains(&"exit".to_owned()));
        assert_eq!(records(&output, "thread").len(), 4);
        assert_eq!(target.running.0.wait().unwrap().code(), Some(3));
    }
}

#[test]
fn events_of_many_threads_at_once_hurt_nobody() {
    let mut target = Target::start();
    target.begin(b's');
    for round in 0..6 {
        let event = if round % 2 == 0 { "close=EBADF" } else { "rarely()" };
        let output = kcore(&target.running.pid(), &[event, "-c", "::stack"]).output().unwrap();
        assert_eq!(records(&output, "caught_event").len(), 1);
    }
    target.runs_on();
}

#[test]
fn a_thread_that_blocks_all_signals_is_caught_late_and_lives() {
    let mut target = Target::start();
    let tid = target.begin(b'm');
    for event in ["close=EBADF", "close_twice()", "close=EIO", "close=any"] {
        let words = ["--within", "2", &target.running.pid(), event, "--json", "-c", "::stack"];
        let mut kcore = Command::new(env!("CARGO_BIN_EXE_kcore"));
        let output = kcore.arg("catch").args(words).stdin(Stdio::null()).output().unwrap();
        if event == "close=EIO" {
            assert_eq!(output.status.code(), Some(1), "it never fails so");
            continue;
        }
        let caught = &records(&output, "caught_event")[0];
        // Where each call stops its thread, no signal is needed.
        let said = String::from_utf8_lossy(&output.stderr);
        let is_late = !said.contains("each call of the process stops its thread twice");
        assert_eq!((&caught["late"], caught["thread"].as_u64()), (&is_late.into(), Some(tid)));
    }
    // It takes its signals again, and none of kcore's own is left among them.
    thread::sleep(Duration::from_millis(700));
    target.runs_on();
}

#[test]
fn what_ends_a_wait_is_said() {
    for (letter, said) in [
        (b'q', "ended, and none of the events came before"),
        (b'e', "started another program, and none of the events came before"),
    ] {
        let mut target = Target::start();
        let waiting = target.caught_by(&["close=EIO"]);
        target.make(letter);
        let output = waiting.wait_with_output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && text.contains(said), "{text}");
    }
    let mut target = Target::start();
    let mut kcore = kcore(&target.running.pid(), &["failure", "--within", "0.2"]);
    let output = kcore.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && text.contains("came in time"), "{text}");
    target.runs_on();
}

#[test]
fn what_cannot_be_waited_for_is_refused() {
    let mut target = Target::start();
    for (event, said) in [
        ("closs=EBADF", "closs: no system call"),
        ("close=EBAD", "EBAD: no error"),
        ("SIGNOSUCH", "SIGNOSUCH: no event"),
        ("SIGKILL", "SIGKILL: nobody can see"),
        ("nosuch()", "nosuch: unknown symbol name"),
    ] {
        let output = kcore(&target.running.pid(), &[event]).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(said), "{event}: {text}");
    }
    target.runs_on();
}
