//! kcore where the system refuses it what others have. Without threads, as where processes are counted, its answers are
//! the same, later; without memory it fails, and says so.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use gen_cores::Outcome;
use process::{Running, compiled};
use serde_json::Value;

#[path = "../support/process.rs"]
mod process;

/// What runs a program that can make no thread.
static LAUNCHER: LazyLock<PathBuf> = LazyLock::new(|| compiled("scarcity/launcher.c"));

/// Runs kcore with threads, and without.
fn both(words: &[&str]) -> [String; 2] {
    let own = env!("CARGO_BIN_EXE_kcore");
    let mut alone = Command::new(LAUNCHER.as_path());
    alone.arg(own);
    [Command::new(own), alone].map(|mut command| {
        command.arg("--no-rc").args(words).stdin(Stdio::null());
        text(words, &command.output().unwrap())
    })
}

fn text(words: &[&str], output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*errors), (Some(0), ""), "{words:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_launcher_lets_nobody_make_a_thread() {
    let mut python = Command::new(LAUNCHER.as_path());
    let start = "import threading; threading.Thread(target=print).start()";
    python.args(["/usr/bin/env", "python3", "-c", start]);
    let output = python.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("can't start new thread"), "{errors}");
}

#[test]
fn a_core_gives_the_same_answers() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/workers/x86_64/core.zst");
    let asked = "::status; ::stacks; ::stack -v; ::objects; ::nm ! sort | tail -3; main::ugrep; ::findcontexts";
    let [with, without] = both(&["-c", asked, core.to_str().unwrap()]);
    assert!(with.contains("parse_header"), "{with}");
    assert_eq!(with, without);
}

#[test]
fn a_heap_of_javascript_is_counted() {
    let case = match gen_cores::ensure("node-stack", "node24").unwrap() {
        Outcome::Made(case) | Outcome::Fresh(case) => case,
        Outcome::Skipped(skipped) => return gen_cores::not_tested(skipped),
    };
    let [with, without] = both(&["-c", "::stacks; ::findjsobjects", case.core.to_str().unwrap()]);
    assert!(with.contains("Array"), "{with}");
    assert_eq!(with, without);
}

/// The functions of each thread, in order of threads.
fn functions(text: &str) -> Vec<(u64, Vec<String>)> {
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let stacks = records.filter(|record| record["type"] == "stack");
    let name = |frame: &Value| frame["function"].as_str().unwrap_or_default().to_owned();
    let stack = |it: Value| {
        (it["tid"].as_u64().unwrap(), it["frames"].as_array().unwrap().iter().map(name).collect())
    };
    stacks.map(stack).collect()
}

#[test]
fn a_live_process_is_stopped_and_goes_on() {
    let target = compiled("scarcity/target.c");
    let (target, _input, output) = Running::start(&mut Command::new(target));
    BufReader::new(output).read_line(&mut String::new()).unwrap();
    for way in [&[][..], &["--rolling"][..]] {
        let words = [way, &["--json", "-p", &target.pid(), "-c", "::walk thread | ::stack"]];
        let [with, without] = both(&words.concat());
        let found = functions(&with);
        assert_eq!(found.len(), 65, "{with}");
        assert!(found[1].1.contains(&"wait_for_nothing".to_owned()), "{:?}", found[1]);
        assert_eq!(found, functions(&without));
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", target.pid())).unwrap();
    assert!(status.contains("TracerPid:\t0\n") && status.contains("(sleeping)"), "{status}");
}

/// The status and the errors of kcore with so many KiB of data, for `ulimit -d`.
fn with_memory(kib: u32, words: &[&str]) -> (Option<i32>, String) {
    let limited = format!("ulimit -d {kib}; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limited, "sh", env!("CARGO_BIN_EXE_kcore")]).args(words);
    let output = command.stdin(Stdio::null()).env_remove("RUST_BACKTRACE").output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn without_memory_a_command_fails_and_says_so() {
    let (target, _input, output) = Running::start(&mut Command::new(compiled("scarcity/target.c")));
    BufReader::new(output).read_line(&mut String::new()).unwrap();
    let (pid, folder) = (target.pid(), tempfile::tempdir().unwrap());
    let file = folder.path().join("saved.core");
    let commands: [&[&str]; 3] = [
        &["save", &pid, "-o", file.to_str().unwrap()],
        &["profile", &pid, "--duration", "0.1"],
        &["--no-rc", "-p", &pid, "-c", "::stacks"],
    ];
    for words in commands {
        // The system begins no program with less room than its own data take.
        let ends: Vec<_> = (2..=9).map(|mib| with_memory(mib * 2048, words)).collect();
        for (status, errors) in &ends {
            assert!(matches!(status, Some(0..=2)), "{words:?}: {status:?} {errors}");
            assert!(!errors.is_empty(), "{words:?}");
        }
        let refused = |errors: &str| errors.contains("memory allocation of");
        assert!(
            ends.iter().any(|(status, errors)| *status == Some(2) && refused(errors)),
            "{ends:?}"
        );
    }
}
