//! Live processes whose memory lies: each command ends with an answer or an error, and the process runs on.

#![allow(clippy::unwrap_used)]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use process::{Running, compiled};

#[path = "../support/process.rs"]
mod process;

/// Processes that are hurt, unless `KCORE_HURT_ROUNDS` says otherwise.
const ROUNDS: u64 = 12;
/// Bytes that kcore may have mapped: a claim that it believed would need more.
const MEMORY: &str = "4194304";
/// A command that takes longer does not end.
const PATIENCE: &str = "120";
const COMMANDS: &str = "::status; ::objects; ::stacks; ::walk thread | ::stack -v; ::threads; ::tls; \
                        ::findcontexts; ::mappings; ::locals; ::runtimes";

/// The number of `pause`.
const PAUSE: u32 = 34;

static TARGET: LazyLock<PathBuf> = LazyLock::new(|| compiled("hurt_live/target.c"));

/// A process that has hurt itself, and waits.
fn hurt(seed: u64) -> Running {
    let mut command = Command::new(TARGET.as_path());
    // The kernel ends a thread whose registered area for rseq(2) is damaged, as soon as it runs after any stop.
    command.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    let (running, _, output) = Running::start(command.arg(seed.to_string()));
    BufReader::new(output).read_line(&mut String::new()).unwrap();
    let start = Instant::now();
    while !is_waiting(&running) {
        assert!(start.elapsed() < Duration::from_secs(60), "seed {seed}: it does not wait");
        thread::sleep(Duration::from_millis(1));
    }
    running
}

/// Whether its first thread is in `pause`, which it enters when all is done.
fn is_waiting(running: &Running) -> bool {
    let call = fs::read_to_string(format!("/proc/{}/syscall", running.pid())).unwrap();
    call.starts_with(&format!("{} ", PAUSE))
}

/// kcore with a bound of memory and of time.
fn bounded(words: &[&str]) -> Output {
    let script = format!("ulimit -v {MEMORY}; exec timeout {PATIENCE} \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_kcore")]).args(words);
    shell.stdin(Stdio::null()).output().unwrap()
}

fn assert_answers(seed: u64, words: &[&str]) {
    let output = bounded(words);
    let errors = String::from_utf8_lossy(&output.stderr);
    let ended = output.status.code();
    assert!(matches!(ended, Some(0..=2)), "seed {seed}: {words:?}: {:?}: {errors}", output.status);
    assert!(!output.stdout.is_empty() || !errors.is_empty(), "seed {seed}: {words:?}");
}

fn assert_runs_on(seed: u64, running: &Running) {
    let status = fs::read_to_string(format!("/proc/{}/status", running.pid())).unwrap();
    let is_free = status.contains("TracerPid:\t0\n") && status.contains("(sleeping)");
    assert!(is_free, "seed {seed}: {status}");
}

#[test]
fn every_command_ends_and_the_process_runs_on() {
    let rounds = env::var("KCORE_HURT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let saved = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hurt_live.core");
    let to = saved.to_str().unwrap();
    for seed in 0..rounds.unwrap_or(ROUNDS) {
        let running = hurt(seed);
        let pid = running.pid();
        assert_answers(seed, &["--no-rc", "-p", &pid, "-c", COMMANDS]);
        assert_answers(seed, &["--no-rc", "--json", "--rolling", "-p", &pid, "-c", COMMANDS]);
        assert_answers(seed, &["save", &pid, "-o", to]);
        assert_answers(seed, &["--no-rc", "-c", COMMANDS, to]);
        assert_runs_on(seed, &running);
    }
    let _ = fs::remove_file(saved);
}
