//! Processes that are sampled, and the program that samples them.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;

use super::process::{Running, compiled};

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("profile/target.c"))
}

/// A process that is sampled.
pub struct Target {
    pub process: Running,
    input: ChildStdin,
    lines: BufReader<ChildStdout>,
}

impl Target {
    /// The program `target.c`, once it runs.
    pub fn start() -> Self {
        let mut target = Self::of(&mut Command::new(program()));
        target.sums();
        target
    }

    pub fn of(command: &mut Command) -> Self {
        let (process, input, output) = Running::start(command);
        Self { process, input, lines: BufReader::new(output) }
    }

    pub fn pid(&self) -> String {
        self.process.pid()
    }

    /// The next line that it writes.
    pub fn told(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    /// The time that it spent in each of its functions, as it counted it.
    pub fn sums(&mut self) -> Vec<f64> {
        self.input.write_all(b"\n").unwrap();
        self.told().split_whitespace().map(|word| word.parse().unwrap()).collect()
    }
}

pub fn kcore(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kcore"));
    command.arg("profile").args(words).stdin(Stdio::null()).output().unwrap()
}

/// Samples, and gives what is written to standard output.
pub fn profile(words: &[&str]) -> (Vec<u8>, String) {
    let output = kcore(words);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    (output.stdout, said)
}

/// Folded stacks: functions from the outermost on, and how often.
pub fn folded(words: &[&str]) -> Vec<(Vec<String>, u64)> {
    parsed(&profile(words).0)
}

/// Folded stacks that were written.
pub fn parsed(written: &[u8]) -> Vec<(Vec<String>, u64)> {
    let text = std::str::from_utf8(written).unwrap();
    let line = |line: &str| {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        (stack.split(';').map(str::to_owned).collect(), count.parse().unwrap())
    };
    text.lines().map(line).collect()
}

/// How many samples have a function.
pub fn count(stacks: &[(Vec<String>, u64)], function: &str) -> u64 {
    let has = |stack: &[String]| stack.iter().any(|name| name.contains(function));
    stacks.iter().filter(|(stack, _)| has(stack)).map(|(_, count)| count).sum()
}
