//! What a collection of a thousand threads costs, against the same with other unwinders in the handler.
//!
//! `cargo bench -p kcore-agent` prints the agent's own words of each round, and a line a round of each peer.

use std::{
    io::{BufRead, BufReader, Read, Write, stdout},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

const THREADS: &str = "1000";
const ROUNDS: usize = 5;

fn compiled(source: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(Path::new(source).file_stem().unwrap());
    let mut command = Command::new("cc");
    command.args(["-O2", "-fomit-frame-pointer", "-pthread", "-o"]).arg(&program);
    assert!(command.arg(folder.join(source)).arg("-ldl").status().unwrap().success());
    program
}

/// The agent's words of each round.
fn agent() -> String {
    let library = std::env::current_exe().unwrap().with_file_name("libkcore_agent.so");
    let mut command = Command::new(compiled("tests/programs/many.c"));
    command.arg(THREADS).env("LD_PRELOAD", library);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    for _ in 0..ROUNDS {
        Command::new("kill").args(["-35", &child.id().to_string()]).status().unwrap();
        sleep(Duration::from_secs(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    text.lines().filter(|line| line.contains("collected in")).collect::<Vec<_>>().join("\n")
}

fn peer(name: &str) -> String {
    let output = Command::new(compiled("benches/peers.c")).args([THREADS, name]).output().unwrap();
    match output.status.success() {
        true => String::from_utf8(output.stdout).unwrap(),
        false => format!("skipped: {name} is not there\n"),
    }
}

fn main() {
    let mut out = stdout();
    let _ = writeln!(out, "{THREADS} threads of 30 frames\nthe agent:\n{}", agent());
    for name in ["libunwind", "libgcc"] {
        let _ = write!(
            out,
            "{name} (µs: whole; signal to answer, median and longest; handler, the same):\n{}",
            peer(name)
        );
    }
}
