//! Processes that are sampled, and the program that samples them.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profile/target.c");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let program = folder.join(format!("profile-target-{}", std::process::id()));
        let mut compiler = Command::new("cc");
        let built =
            compiler.args(["-g", "-O1", "-pthread", "-o"]).arg(&program).arg(source).status();
        assert!(built.expect("a C compiler").success());
        program
    })
}

/// A process that is killed when the test is done with it.
pub struct Target {
    pub child: Child,
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
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    pub fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// The time that it spent in each of its functions, as it counted it.
    pub fn sums(&mut self) -> Vec<f64> {
        self.child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.split_whitespace().map(|word| word.parse().unwrap()).collect()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
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
    let text = String::from_utf8(profile(words).0).unwrap();
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
