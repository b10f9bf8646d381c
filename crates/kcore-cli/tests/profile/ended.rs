//! A signal ends a profile at once, also while it waits for a process to stand still.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::process::{Running, compiled};

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

#[test]
fn a_signal_ends_a_stop_in_progress() {
    let program = compiled("profile/waits.c");
    let (target, ..) = Running::start(&mut Command::new(&program));
    let status = || fs::read_to_string(format!("/proc/{}/status", target.pid())).unwrap();
    until("the thread waits for its child", || status().contains("State:\tD"));
    for signal in ["-INT", "-TERM"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kcore"));
        command.args(["profile", "-d", "600", "--hold", "100", "--stop-budget", STOP_TIMEOUT]);
        command.args(["--stop-timeout", STOP_TIMEOUT, &target.pid()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut profile = Running(command.spawn().unwrap());
        until("the profile traces it", || !status().contains("TracerPid:\t0\n"));
        let sent = Command::new("kill").args([signal, &profile.pid()]).status().unwrap();
        assert!(sent.success());
        let start = Instant::now();
        while profile.0.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < PATIENCE, "{signal} ended nothing");
            thread::sleep(Duration::from_millis(1));
        }
        until("nobody traces it", || status().contains("TracerPid:\t0\n"));
    }
    fs::remove_file(program).unwrap();
}
