//! Hangs: what is found where threads wait for each other, and that nothing is where they wait for work.

use std::io::{BufRead, BufReader};
use std::process::Command;

use serde_json::Value;

use super::{
    analysis, case, findings,
    gallery::runs_all,
    locks::told,
    process::{self, Running},
};

/// Finders that look at what threads wait for.
const OF_HANGS: [&str; 5] =
    ["deadlock", "self-deadlock", "owner-gone", "lock-convoy", "guard-deadlock"];

/// A finding of those: the scenario, the finder, how sure it is, what the sentence holds, and the variants.
type HangClaim =
    (&'static str, &'static str, &'static str, &'static [&'static str], &'static [&'static str]);

/// All of them.
const HANGS: &[HangClaim] = &[
    (
        "hang-abba",
        "deadlock",
        "certain",
        &["2 threads wait for each other", "the mutex lock_a", "the mutex lock_b"],
        &["O0-pie", "O2-pie", "O2-pie-gcore", "O2-static"],
    ),
    (
        "hang-three",
        "deadlock",
        "certain",
        &["3 threads wait for each other", "the mutex lock_a", "the rwlock written", "the end of"],
        &["O0-pie", "O2-pie", "O2-pie-gcore", "O2-static"],
    ),
    (
        "hang-cpp",
        "deadlock",
        "certain",
        &["the mutex g_a", "the mutex g_b"],
        &["O2-pie", "O2-static"],
    ),
    (
        "hang-self",
        "self-deadlock",
        "certain",
        &["the mutex lock_a, which it holds itself, in lock_mutex"],
        &["O2-pie", "O2-pie-gcore"],
    ),
    (
        "hang-gone",
        "owner-gone",
        "certain",
        &["the mutex lock_a", "the process has no such thread"],
        &["O2-pie", "O2-pie-gcore"],
    ),
    // Its locks record no owner.
    (
        "hang-rust",
        "guard-deadlock",
        "likely",
        &["2 threads wait for each other", "the Rust Mutex hang_rust::A, of which thread"],
        &["debug-pie"],
    ),
    (
        "hang-convoy",
        "lock-convoy",
        "likely",
        &["5 threads wait for the mutex lock_a", "waits in read(fd ", ", in read_pipe"],
        &["O2-pie", "O2-pie-gcore"],
    ),
];

/// Processes that do not hang by what memory records.
const OTHERS: &[(&str, &str)] = &[
    ("hang-idle", "O0-pie"),
    ("hang-idle", "O2-pie"),
    ("hang-idle", "O2-pie-gcore"),
    ("hang-idle", "O2-static"),
    ("hang-idle", "O2-musl-static"),
    ("hang-abba", "O2-musl-static"),
    ("hang-three", "O2-musl-static"),
    ("hang-rust", "release-pie"),
    ("hang-rust", "release-pie-gcore"),
];

fn of_hangs(analysis: &Value) -> Vec<&Value> {
    let is_of_hang = |it: &&Value| OF_HANGS.contains(&it["finder"].as_str().unwrap());
    findings(analysis).iter().filter(is_of_hang).collect()
}

#[test]
fn a_hang_has_its_finding_and_no_other() {
    for (scenario, finder, sure, says, variants) in HANGS {
        for variant in *variants {
            let Some(case) = case(scenario, variant) else { continue };
            let name = format!("{scenario}/{variant}");
            let said = analysis(&case.core);
            let [finding] = of_hangs(&said)[..] else { panic!("{name}: {said:#}") };
            assert_eq!(
                (&finding["finder"], &finding["confidence"]),
                (&(*finder).into(), &(*sure).into()),
                "{name}"
            );
            // What holds the process up explains more than who ended it.
            assert_eq!(&findings(&said)[0], finding, "{name}");
            let sentence = finding["sentence"].as_str().unwrap();
            for part in *says {
                assert!(sentence.contains(part), "{name}: no '{part}' in '{sentence}'");
            }
            runs_all(&name, &case.core, finding);
            if *finder == "deadlock" {
                names_all(&name, sentence, &told(&case));
            }
        }
    }
}

/// The sentence has each thread of the circle with the one that it waits for, as the program has told them.
fn names_all(name: &str, sentence: &str, told: &[Value]) {
    let mut steps = sentence.split(": ").nth(1).unwrap().split("; ").peekable();
    assert!(steps.peek().is_some(), "{name}: {sentence}");
    for step in steps {
        let tid: u64 = step.split(' ').nth(1).unwrap().parse().unwrap();
        let told = told.iter().find(|told| told["tid"] == tid);
        let told = told.unwrap_or_else(|| panic!("{name}: thread {tid} is not in it"));
        assert!(step.contains(&format!("thread {}", told["holder_tid"])), "{name}: {step}");
    }
}

#[test]
fn threads_that_wait_for_work_are_no_hang() {
    for (scenario, variant) in OTHERS {
        let Some(case) = case(scenario, variant) else { continue };
        let said = analysis(&case.core);
        assert!(of_hangs(&said).is_empty(), "{scenario}/{variant}: {said:#}");
    }
}

#[test]
fn locks_that_somebody_will_free_are_no_deadlock() {
    for variant in ["O2-pie", "O2-pie-gcore", "O2-static", "O2-musl-static", "O2-aarch64-static"] {
        let Some(case) = case("hang-kinds", variant) else { continue };
        let said = analysis(&case.core);
        let names: Vec<&Value> = of_hangs(&said).iter().map(|it| &it["finder"]).collect();
        let is_convoy = names.iter().all(|name| **name == "lock-convoy");
        assert!(is_convoy, "{variant}: {said:#}");
    }
}

#[test]
fn an_owner_in_another_process_is_not_said_to_be_gone() {
    let program = process::compiled("why/shared.c");
    let (running, _input, output) = Running::start(&mut Command::new(&program));
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).unwrap();
    assert_eq!(line, "begun\n");
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    let is_absent = || {
        assert!(super::kcore(&["save", &running.pid(), "-o"], &core).status.success());
        let locks = super::kcore(&["--json", "-c", "::locks"], &core).stdout;
        String::from_utf8(locks).unwrap().contains("\"holder\":\"absent_thread\"")
    };
    // From its word to its wait a thread takes a moment.
    let is_waiting = (0..100).any(|_| is_absent());
    assert!(is_waiting, "no thread waits for a mutex whose owner is not in the core");
    let said = analysis(&core);
    assert!(of_hangs(&said).is_empty(), "{said:#}");
    std::fs::remove_file(program).unwrap();
}
