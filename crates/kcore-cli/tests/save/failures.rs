//! Whatever goes wrong, the process goes on, and nothing is left of the core.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::process::{Running, compiled};
use crate::target::{Target, kcore, kcore_command, stderr};

/// Names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_full_device_is_said() {
    let target = Target::start();
    let output = kcore(&["save", &target.pid(), "-o", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output), "kcore: /dev/full: no space left on device\n");
    target.assert_runs();
}

#[test]
fn a_file_that_may_not_grow_leaves_nothing() {
    let (target, folder) = (Target::start(), tempfile::tempdir().unwrap());
    let core = folder.path().join("core");
    // A signal would end kcore where the limit is reached: it is ignored, as a shell's users may do.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" save \"$1\" -o \"$2\"";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_kcore"), &target.pid()])
        .arg(&core)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("file too large"), "{}", stderr(&output));
    assert_eq!(stderr(&output).lines().count(), 1);
    assert!(names(folder.path()).is_empty());
    target.assert_runs();
}

#[test]
fn a_pipe_that_nobody_reads_is_said() {
    let target = Target::start();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = kcore_command();
    command.args(["save", &target.pid(), "-o", "-"]).stdout(OwnedFd::from(writer));
    let output = command.stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output), "kcore: standard output: broken pipe\n");
    target.assert_runs();
}

#[test]
fn whenever_kcore_is_ended_the_process_goes_on_and_no_file_is_left() {
    const TIMES: u64 = 40;
    let times = std::env::var("KCORE_HURT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let (target, folder) = (Target::start(), tempfile::tempdir().unwrap());
    let core = folder.path().join("core");
    let mut random: u64 = 0x9e37_79b9_7f4a_7c15;
    for time in 0..times.unwrap_or(TIMES) {
        let mut command = kcore_command();
        command.stdout(Stdio::null()).stderr(Stdio::null());
        match time / 2 % 3 {
            0 => command.args(["save", "--all", &target.pid(), "-o"]).arg(&core),
            1 => command.args(["save", "--for-decoders", &target.pid(), "-o"]).arg(&core),
            _ => command.args(["stacks", &target.pid()]),
        };
        let mut saving = command.spawn().unwrap();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        thread::sleep(Duration::from_micros(random % 60_000));
        let signal = if time % 2 == 0 { "-KILL" } else { "-INT" };
        let _ = Command::new("kill").args([signal, &saving.id().to_string()]).status();
        let ended = saving.wait().unwrap();
        target.assert_runs();
        let left = names(folder.path());
        assert!(left.iter().all(|name| name == "core"), "{left:?}");
        assert!(left.is_empty() || ended.success() || signal == "-KILL", "{ended}: {left:?}");
        let _ = fs::remove_file(&core);
    }
}

#[test]
fn what_cannot_be_is_one_clear_line() {
    let target = Target::start();
    for (pid, file, said) in [
        ("2147483647", "x", "no process has the id 2147483647"),
        ("x", "x", "x: no process id"),
        (&target.pid(), "/nosuch/x", "/nosuch/x: no such file or directory"),
        (&target.pid(), "/", "/: is a directory"),
    ] {
        let output = kcore(&["save", pid, "-o", file]);
        let text = stderr(&output);
        assert!(!output.status.success());
        assert!(text.starts_with(&format!("kcore: {said}")), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn a_process_that_is_killed_while_it_is_copied_is_said_to_be() {
    let program = compiled("save/killed.c");
    let folder = tempfile::tempdir().unwrap();
    for delay in (0..12).map(|step| Duration::from_millis(20 * step)) {
        let core = folder.path().join("core");
        let (process, _, _output) = Running::start(&mut Command::new(&program));
        let mut command = kcore_command();
        let saving = command.args(["save", &process.pid(), "-o"]).arg(&core);
        let saving = saving.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        thread::sleep(delay);
        let _ = Command::new("kill").args(["-KILL", &process.pid()]).status();
        let output = saving.wait_with_output().unwrap();
        let said = stderr(&output);
        let is_whole = !said.contains("could not be read");
        match output.status.code() {
            Some(0) => assert!(is_whole && core.exists(), "{said}"),
            Some(1) => assert!(!is_whole && said.contains("killed while it was copied"), "{said}"),
            // It ended before there was anything to copy.
            Some(2) => assert!(!core.exists() && said.lines().count() == 1, "{said}"),
            other => panic!("{other:?}: {said}"),
        }
        let _ = fs::remove_file(&core);
    }
    fs::remove_file(program).unwrap();
}
