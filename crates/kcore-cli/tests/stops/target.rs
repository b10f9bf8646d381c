//! A process that is stopped and let go on.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Until a signal has stopped all threads.
const PATIENCE: Duration = Duration::from_secs(10);
/// Threads of one stop that are looked at: more are much the same.
const MAX_THREADS: usize = 4;

/// A process that is killed when the test is done with it.
pub struct Target(Child);

impl Target {
    pub fn start(command: &mut Command) -> Self {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(quiet.spawn().unwrap())
    }

    pub fn pid(&self) -> String {
        self.0.id().to_string()
    }

    fn signal(&self, name: &str) -> bool {
        Command::new("kill").args(["-s", name, &self.pid()]).status().unwrap().success()
    }

    /// Stops all threads; says whether there is anything left to stop.
    pub fn stop(&self) -> bool {
        let start = Instant::now();
        self.signal("STOP")
            && loop {
                match self.state() {
                    Some('T' | 't') => break true,
                    Some('Z' | 'X') | None => break false,
                    _ if start.elapsed() > PATIENCE => break false,
                    _ => std::thread::yield_now(),
                }
            }
    }

    /// The state of the process as the kernel names it: the letter behind the name.
    fn state(&self) -> Option<char> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).ok()?;
        stat.rsplit_once(')')?.1.trim_start().chars().next()
    }

    pub fn go_on(&self) {
        self.signal("CONT");
    }

    /// The stacks of its threads, those first that do not wait.
    pub fn stacks(&self) -> Vec<Value> {
        let output = Command::new(env!("CARGO_BIN_EXE_kcore"))
            .args(["--json", "-p", &self.pid(), "-c", "::walk thread | ::stack"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut stacks: Vec<Value> = records.filter(|it| it["type"] == "stack").collect();
        stacks.sort_by_key(|stack| !stack["waits_in"].is_null());
        stacks.truncate(MAX_THREADS);
        stacks
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Compiles a program that stands beside this file.
pub fn build(dir: &Path, source: &str, flags: &[&str]) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stops").join(source);
    let program = dir.join(source.trim_end_matches(".c"));
    let status = Command::new("cc")
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(from)
        .args(flags)
        .status()
        .unwrap();
    assert!(status.success());
    program
}
