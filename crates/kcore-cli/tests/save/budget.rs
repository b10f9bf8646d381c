//! A process stands still no longer than was promised, and what is missing then is said.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::process::{Running, compiled};
use crate::target::{Target, kcore, kcore_command, stderr};

#[test]
fn what_could_not_be_copied_in_time_is_said() {
    let program = compiled("save/big.c");
    let (process, _, output) = Running::start(&mut Command::new(&program));
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    // No machine copies that much of another process in so short a time.
    let words = ["save", "--stop-budget", "40", &process.pid(), "-o", core.to_str().unwrap()];
    let output = kcore(&words);
    let said = stderr(&output);
    // Where others use its processors, the time may be over before the process stands still.
    if !said.contains("did not stop within") {
        assert!(output.status.success(), "{said}");
        assert!(said.contains("not copied, since the time was over (--stop-budget)"), "{said}");
        let output = kcore(&["--no-rc", core.to_str().unwrap(), "-c", "::status"]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    fs::remove_file(program).unwrap();
}

#[test]
fn a_signal_ends_kcore_although_nobody_reads_the_core() {
    let target = Target::start();
    for signal in ["-TERM", "-INT"] {
        let mut command = kcore_command();
        command.args(["save", &target.pid(), "-o", "-"]).stdout(Stdio::piped());
        let mut saving = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut core = saving.stdout.take().unwrap();
        // The first byte comes when all is copied; the pipe holds less than the core has.
        core.read_exact(&mut [0]).unwrap();
        let sent = Command::new("kill").args([signal, &saving.id().to_string()]).status();
        assert!(sent.unwrap().success());
        let start = Instant::now();
        let ended = loop {
            if let Some(ended) = saving.try_wait().unwrap() {
                break ended;
            }
            if start.elapsed() > Duration::from_secs(20) {
                saving.kill().unwrap();
            }
            thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(ended.code(), Some(1), "{signal}");
        target.assert_runs();
    }
}

#[test]
fn an_end_that_nobody_could_wait_for_is_no_error() {
    let target = Target::start();
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    let longest = u64::MAX.to_string();
    let core = core.to_str().unwrap();
    let output = kcore(&["save", "--stop-budget", &longest, &target.pid(), "-o", core]);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = kcore(&["save", "--stop-budget", "0", &target.pid(), "-o", core]);
    assert_eq!(output.status.code(), Some(2));
}
