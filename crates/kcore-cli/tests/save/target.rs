//! A process of the program `target.c`, and the programs that look at it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::Value;

/// What each worker runs, innermost first, below what the C library runs.
pub const WORKER: [&str; 3] = ["wait_for_good", "middle", "worker"];
pub const WORKERS: usize = 5;

/// The compiled program.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/save/target.c");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let program = folder.join(format!("save-target-{}", std::process::id()));
        let mut compiler = Command::new("cc");
        let built =
            compiler.args(["-g", "-O1", "-pthread", "-o"]).arg(&program).arg(source).status();
        assert!(built.expect("a C compiler").success());
        program
    })
}

/// A process that is killed when the test is done with it.
pub struct Target {
    child: Child,
    /// Where its secret and its heap lie.
    pub addresses: Vec<String>,
}

impl Target {
    pub fn start() -> Self {
        let mut child =
            Command::new(program()).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let addresses = line.split_whitespace().skip(1).map(str::to_owned).collect();
        Self { child, addresses }
    }

    pub fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// That no thread of it is stopped or traced, soon.
    pub fn assert_runs(&self) {
        let start = Instant::now();
        while !self.all_run() {
            assert!(start.elapsed() < Duration::from_secs(20), "the target is stopped or traced");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn all_run(&self) -> bool {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        tasks.filter_map(Result::ok).all(|task| {
            let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
            let line = |key: &str| status.lines().find(|line| line.starts_with(key));
            let state = line("State:").unwrap_or_default();
            !state.contains("stop") && line("TracerPid:").is_some_and(|line| line.ends_with("\t0"))
        })
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
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
