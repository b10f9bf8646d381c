//! Profiles of a process that nothing stops: they say so, and a signal ends them at once.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use super::process::{Running, compiled};
use super::target::profile;

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| compiled("profile/waits.c"));

/// What is waited for at most until a process is as it should be.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long the profile may wait for threads to stop: far beyond that.
const STOP_TIMEOUT: &str = "600000";

fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "not in {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn status_of(target: &Running) -> String {
    fs::read_to_string(format!("/proc/{}/status", target.pid())).unwrap()
}

/// A process whose only thread waits where nothing stops it.
fn waiting() -> Running {
    let (target, ..) = Running::start(&mut Command::new(PROGRAM.as_path()));
    until("the thread waits for its child", || status_of(&target).contains("State:\tD"));
    target
}

#[test]
fn without_samples_it_says_why() {
    let target = waiting();
    let (_, said) = profile(&["-d", "0.3", "--stop-timeout", "100", &target.pid()]);
    assert!(said.contains("0 samples of 0 threads"), "{said}");
    let reason = format!("process {} did not stop within 100 ms", target.pid());
    assert_eq!(said.matches(&reason).count(), 1, "{said}");
    let (_, said) = profile(&["-d", "0.1", "--cpu", &target.pid()]);
    assert!(said.contains("no thread was seen on a processor"), "{said}");
}

#[test]
fn a_signal_ends_a_stop_in_progress() {
    let target = waiting();
    let is_traced = || !status_of(&target).contains("TracerPid:\t0\n");
    for signal in ["-INT", "-TERM"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kcore"));
        command.args(["profile", "-d", "600", "--hold", "100", "--stop-budget", STOP_TIMEOUT]);
        command.args(["--stop-timeout", STOP_TIMEOUT, &target.pid()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut profile = Running(command.spawn().unwrap());
        until("the profile traces it", is_traced);
        let sent = Command::new("kill").args([signal, &profile.pid()]).status().unwrap();
        assert!(sent.success());
        let start = Instant::now();
        while profile.0.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < PATIENCE, "{signal} ended nothing");
            thread::sleep(Duration::from_millis(1));
        }
        until("nobody traces it", || !is_traced());
    }
}
