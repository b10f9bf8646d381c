//! `::locks`: what is said of threads that wait, against the programs' own account of it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use gen_cores::Case;
use serde_json::Value;

use super::{case, process::Running};

/// What a program printed of its waits.
pub fn told(case: &Case) -> Vec<Value> {
    let path = case.core.with_file_name("output.txt");
    told_in(&fs::read_to_string(path).unwrap())
}

fn told_in(text: &str) -> Vec<Value> {
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The records of `::locks -a`; `words` say of what.
fn records(words: &[&str]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kcore"));
    command.args(["--no-rc", "--json", "-c", "::locks -a"]).args(words).stdin(Stdio::null());
    let Output { stdout, status, .. } = command.output().unwrap();
    assert!(status.success(), "{words:?}");
    let text = String::from_utf8(stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn waits(record: &Value, tid: &Value) -> bool {
    let waiters = record["waiters"].as_array();
    waiters.is_some_and(|waiters| waiters.iter().any(|waiter| waiter["tid"] == *tid))
}

/// Whether a wait is recognized. What is recognized has to be right.
fn is_right(name: &str, told: &Value, records: &[Value]) -> bool {
    let tid = &told["tid"];
    let at =
        u64::from_str_radix(told["at"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
    if told["kind"] == "read" {
        let wait = records.iter().find(|it| it["type"] == "kernel_wait" && it["tid"] == *tid);
        let Some(wait) = wait else { return false };
        assert_eq!((&wait["call"], &wait["fd"]), (&"read".into(), &at.into()), "{name}");
        return true;
    }
    let lock = records.iter().find(|record| waits(record, tid));
    let lock = lock.unwrap_or_else(|| panic!("{name}: thread {tid} waits for no lock"));
    if lock["kind"] == "futex" {
        assert_eq!(lock["holder"], "unknown", "{name}: {lock}");
        return false;
    }
    let holder = told["holder_tid"].as_u64().filter(|tid| *tid != 0);
    let absent = told["holder"] == "absent_thread";
    let key = if absent { "absent_id" } else { "holder_tid" };
    assert_eq!(lock["kind"], told["kind"], "{name}: {told} {lock}");
    assert_eq!(lock["holder"], told["holder"], "{name}: {told} {lock}");
    assert_eq!(lock[key].as_u64(), holder, "{name}: {told} {lock}");
    assert!(at == 0 || lock["address"] == format!("{at:#x}"), "{name}: {told} {lock}");
    true
}

/// How many waits are recognized, of how many.
fn right(name: &str, told: &[Value], records: &[Value]) -> (usize, usize) {
    for lock in records.iter().filter(|record| record["type"] == "lock") {
        for waiter in lock["waiters"].as_array().unwrap() {
            let is_told = told.iter().any(|told| told["tid"] == waiter["tid"]);
            assert!(is_told, "{name}: thread {} waits for no lock", waiter["tid"]);
        }
    }
    let known = told.iter().filter(|told| is_right(name, told, records)).count();
    (known, told.len())
}

#[test]
fn every_wait_is_what_the_program_says() {
    let scenarios: &[(&str, &[&str])] = &[
        ("hang-kinds", &["O0-pie", "O2-pie", "O2-pie-gcore", "O2-static"]),
        ("hang-abba", &["O2-pie", "O2-pie-gcore", "O2-static"]),
        ("hang-three", &["O2-pie", "O2-pie-gcore", "O2-static"]),
        ("hang-self", &["O2-pie", "O2-pie-gcore"]),
        ("hang-gone", &["O2-pie", "O2-pie-gcore"]),
        ("hang-convoy", &["O2-pie", "O2-pie-gcore"]),
        ("hang-idle", &["O2-pie", "O2-pie-gcore", "O2-static"]),
        ("hang-cpp", &["O0-pie", "O2-pie", "O2-pie-gcore", "O2-static"]),
        ("hang-rust", &["debug-pie", "release-pie", "release-pie-gcore"]),
    ];
    for (scenario, variants) in scenarios {
        for variant in *variants {
            let Some(case) = case(scenario, variant) else { continue };
            let told = told(&case);
            let name = format!("{scenario}/{variant}");
            let (known, all) = right(&name, &told, &records(&[case.core.to_str().unwrap()]));
            assert!(all > 0 && known == all, "{name}: {known} of {all} are recognized");
        }
    }
}

/// Where a layout is not known, or the core does not tell what is needed, nothing false is said.
#[test]
fn what_is_not_proven_stays_a_word() {
    for (variant, least) in [("O2-musl-static", 7), ("O2-aarch64-static", 20)] {
        let Some(case) = case("hang-kinds", variant) else { continue };
        let told = told(&case);
        let (known, all) = right(variant, &told, &records(&[case.core.to_str().unwrap()]));
        assert!(known >= least && known < all, "{variant}: {known} of {all} are recognized");
    }
}

/// Programs and libraries without symbols but those that they export, and without any debug files.
#[test]
fn stripped_programs_tell_as_much() {
    let Some(case) = case("hang-kinds", "O2-pie") else { return };
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    fs::copy(&case.core, &core).unwrap();
    strip(&case.core.with_file_name("hang-kinds"), &folder.path().join("hang-kinds"));
    for library in ["libc.so.6", "ld-linux-x86-64.so.2"] {
        let path = Path::new("/usr/lib/x86_64-linux-gnu").join(library);
        strip(&path, &folder.path().join(library));
    }
    let told = told(&case);
    let records = records(&["--untrusted", core.to_str().unwrap()]);
    let (known, all) = right("stripped", &told, &records);
    assert_eq!(known, all, "{records:#?}");
    let by_call = records.iter().filter(|record| record["recognized_by"] == "call_site");
    assert!(by_call.count() > 0, "{records:#?}");
}

fn strip(from: &Path, to: &Path) {
    let status = Command::new("strip").arg("-o").arg(to).arg(from).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_running_process_tells_the_same() {
    let Some(case) = case("hang-three", "O2-pie") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(case.core.with_file_name("hang-three"));
    command.arg("three").current_dir(folder.path());
    command.env("KCORE_TRUTH", folder.path().join("truth"));
    let (running, _input, output) = Running::start(&mut command);
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(output));
    let text: Vec<String> = lines.by_ref().take(3).map(Result::unwrap).collect();
    // Between its word and its wait a thread takes a moment.
    std::thread::sleep(Duration::from_millis(500));
    let records = records(&["-p", &running.pid()]);
    assert_eq!(right("live", &told_in(&text.join("\n")), &records), (3, 3));
}

#[test]
fn waiters_of_one_lock_feed_a_pipe() {
    let Some(case) = case("hang-convoy", "O2-pie") else { return };
    let told = told(&case);
    let at = told[0]["at"].as_str().unwrap().trim_start_matches("0x").to_owned();
    let line = format!("{at}::locks -v; {at}::walk waiter; ::walk lock; 10::locks");
    let core = case.core.to_str().unwrap();
    let output = super::kcore(&["-c", &line], Path::new(core));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut waiters: Vec<String> = told.iter().map(|it| format!("0t{}", it["tid"])).collect();
    waiters.sort();
    let mut lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.pop(), Some(&*format!("0x{at}")));
    let mut walked = lines.split_off(lines.len() - waiters.len());
    walked.sort_unstable();
    assert_eq!(walked, waiters);
    let holder = &told[0]["holder_tid"];
    assert_eq!(lines[0], format!("lock_a (0x{at}): mutex, held by thread {holder}"));
    assert_eq!(lines[1], "    recognized by its words");
    assert!(lines[2].starts_with("    5 threads wait in lock_mutex+0x"), "{text}");
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("no thread waits for a lock at 0x10"), "{error}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_word_in_gos_heap_is_on_no_threads_stack() {
    let Some(case) = case("goroutines", "go1.19") else { return };
    let text = String::from_utf8(super::kcore(&["-c", "::locks"], &case.core).stdout).unwrap();
    let in_heap: Vec<&str> = text.lines().filter(|line| line.starts_with("0xc0")).collect();
    assert!(!in_heap.is_empty(), "{text}");
    assert!(in_heap.iter().all(|line| line.contains("an object of Go's heap")), "{in_heap:?}");
}
