//! A process of the program `target.c`, and the programs that look at it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::process::{Running, compiled};

/// What each worker runs, innermost first, below what the C library runs.
pub const WORKER: [&str; 3] = ["wait_for_good", "middle", "worker"];
pub const WORKERS: usize = 5;

/// The compiled program.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("save/target.c"))
}

/// A process that is saved.
pub struct Target {
    process: Running,
    /// Where its secret and its heap lie.
    pub addresses: Vec<String>,
}

impl Target {
    pub fn start() -> Self {
        let (process, _, output) = Running::start(&mut Command::new(program()));
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).unwrap();
        let addresses = line.split_whitespace().skip(1).map(str::to_owned).collect();
        let target = Self { process, addresses };
        target.until("its threads wait", Self::all_wait);
        target
    }

    pub fn pid(&self) -> String {
        self.process.pid()
    }

    fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            assert!(start.elapsed() < Duration::from_secs(20), "not in 20 seconds: {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A file that the system has of each thread.
    fn of_threads(&self, name: &str) -> Vec<String> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        let file = |task: fs::DirEntry| fs::read_to_string(task.path().join(name));
        tasks.filter_map(Result::ok).map(|task| file(task).unwrap_or_default()).collect()
    }

    /// Whether all threads are in one and the same system call. The first one has left the barrier, at which
    /// the others may be still.
    fn all_wait(&self) -> bool {
        let calls = self.of_threads("syscall");
        let mut calls = calls.iter().map(|call| call.split(' ').next().unwrap_or_default());
        let first = calls.next().unwrap_or("running");
        !first.starts_with("running") && calls.all(|call| call == first)
    }

    /// That no thread of it is stopped or traced, soon.
    pub fn assert_runs(&self) {
        self.until("no thread is stopped or traced", Self::all_run);
    }

    fn all_run(&self) -> bool {
        self.of_threads("status").iter().all(|status| {
            let line = |key: &str| status.lines().find(|line| line.starts_with(key));
            let state = line("State:").unwrap_or_default();
            !state.contains("stop") && line("TracerPid:").is_some_and(|line| line.ends_with("\t0"))
        })
    }
}

pub fn kcore_command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kcore"));
    command.stdin(Stdio::null());
    command
}

pub fn kcore(words: &[&str]) -> Output {
    kcore_command().args(words).output().unwrap()
}

/// Saves, and gives what is said of it.
pub fn save(options: &[&str], pid: &str, to: &Path) -> String {
    let words = [&["save"], options, &[pid, "-o", to.to_str().unwrap()]].concat();
    let output = kcore(&words);
    assert!(output.status.success(), "{}", stderr(&output));
    stderr(&output)
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The records that commands about a core, or a process, give.
pub fn records(words: &[&str]) -> Vec<Value> {
    let output = kcore(&[&["--no-rc", "--json"], words].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The functions of each thread, innermost first, as kcore has them.
pub fn stacks(target: &[&str]) -> Vec<Vec<String>> {
    let words = [target, &["-c", "::walk thread | ::stack"]].concat();
    let records = records(&words);
    let stacks = records.iter().filter(|record| record["type"] == "stack");
    let mut stacks: Vec<Vec<String>> = stacks
        .map(|stack| {
            let frames = stack["frames"].as_array().unwrap().iter();
            let names = frames.filter_map(|frame| frame["function"].as_str());
            names.map(str::to_owned).collect()
        })
        .collect();
    stacks.sort();
    stacks
}
