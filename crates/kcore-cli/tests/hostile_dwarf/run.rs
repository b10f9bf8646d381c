//! Runs kcore on the core of a hostile program, held to bounds.

use std::process::{Command, Output, Stdio};

use gen_cores::{Program, core_of};

use crate::assembly::Unit;

/// Address space that kcore may take, in KiB.
const MEMORY_KIB: u64 = 2 << 20;
/// Seconds after which kcore hangs rather than works.
const HANGS: &str = "60";
/// Bytes of output beyond which no limit holds, not even the one that stands when a user lifts all others.
const MOST_OUTPUT: usize = 64 << 20;

/// What kcore answered.
pub struct Answer {
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub errors: String,
}

impl Answer {
    /// Fails unless `words` stand in the output.
    pub fn says(self, words: &str) -> Self {
        assert!(self.out.contains(words), "no {words:?} in\n{}\n{}", self.out, self.errors);
        self
    }

    /// Fails unless `words` stand in a message.
    pub fn complains(self, words: &str) -> Self {
        assert!(self.errors.contains(words), "no {words:?} in\n{}\n{}", self.errors, self.out);
        self
    }
}

/// Builds the program, lets it die, and runs the commands on its core. kcore must end by itself, with
/// its word for done or failed, and say something.
pub fn ask(unit: &Unit, commands: &str) -> Answer {
    let dir = tempfile::tempdir().unwrap();
    let path = unit.build(dir.path());
    let program = Program { path: &path, args: &[], stack_kib: 8192 };
    let core = core_of(&program, dir.path()).unwrap();
    let limited = format!("ulimit -v {MEMORY_KIB} && exec timeout {HANGS} \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited, "sh", env!("CARGO_BIN_EXE_kcore"), "--no-rc", "-c", commands]);
    shell.arg(&core).env("XDG_CACHE_HOME", dir.path()).stdin(Stdio::null());
    checked(commands, &shell.output().unwrap())
}

fn checked(commands: &str, output: &Output) -> Answer {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let answer = Answer { out: text(&output.stdout), errors: text(&output.stderr) };
    let all =
        format!("{commands}: {}\n{}\n{}", output.status, cut(&answer.out), cut(&answer.errors));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{all}");
    assert!(!answer.errors.contains("panicked"), "{all}");
    assert!(answer.out.len() + answer.errors.len() < MOST_OUTPUT, "too much is shown: {all}");
    assert!(!(answer.out.trim().is_empty() && answer.errors.trim().is_empty()), "silent: {all}");
    answer
}

fn cut(text: &str) -> String {
    text.chars().take(2000).collect()
}
