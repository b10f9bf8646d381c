//! What waits in Asio's reactor, for coroutines and for callbacks.

use std::{fs, path::PathBuf, process::Command};

use serde_json::Value;

use crate::{Opened, cases_of, open};

fn waits(core: &Opened) -> Vec<Value> {
    let records = core.records("::reactors").into_iter();
    records.filter(|record| record["type"] == "reactor_wait").collect()
}

/// What an operation waits for, as the program writes it.
fn facts(wait: &Value) -> (String, Option<i64>, Option<String>) {
    let fd = wait["fd"].as_i64().filter(|fd| *fd >= 0);
    let text = |key: &str| wait[key].as_str().map(str::to_owned);
    (text("event").unwrap_or_default(), fd, text("deadline"))
}

#[test]
fn all_that_waits_is_listed() {
    for core in cases_of("asio-coroutines").iter().map(Opened::of) {
        let text = fs::read_to_string(core.dir.join("reactors.jsonl")).expect("lines");
        let told = text.lines().map(|line| facts(&serde_json::from_str(line).expect("JSON")));
        let (mut told, shown): (Vec<_>, Vec<Value>) = (told.collect(), waits(&core));
        let mut listed: Vec<_> = shown.iter().map(facts).collect();
        told.sort();
        listed.sort();
        assert_eq!(listed, told, "{}: {shown:#?}", core.name);
        for wait in &shown {
            let function = wait["function"].as_str().unwrap_or_default();
            assert!(function.contains("do_complete"), "{}: {wait:#}", core.name);
            let operation = wait["operation"].as_str().unwrap_or_default();
            assert!(function.contains(operation), "{}: {wait:#}", core.name);
        }
        let of_coroutines = shown.iter().filter(|wait| !wait["promise"].is_null()).count();
        assert_eq!(of_coroutines, 4, "{}: {shown:#?}", core.name);
    }
}

#[test]
fn tasks_wait_for_what_the_reactor_has() {
    for core in cases_of("asio-coroutines").iter().map(Opened::of) {
        let shown = waits(&core);
        let of_coroutines = shown.iter().filter(|wait| !wait["promise"].is_null());
        let mut wanted: Vec<String> = of_coroutines
            .map(|wait| match facts(wait) {
                (event, Some(fd), _) => format!("fd {fd} {event}"),
                (_, None, deadline) => format!("timer {}", deadline.expect("a time")),
            })
            .collect();
        let tasks = core.records("::tasks -r c++20");
        let tasks = tasks.iter().filter(|task| task["type"] == "task");
        let mut said: Vec<String> = tasks
            .filter_map(|task| task["waits_on"].as_str())
            .filter(|wait| wait.starts_with("fd ") || wait.starts_with("timer "))
            .map(str::to_owned)
            .collect();
        wanted.sort();
        said.sort();
        assert_eq!(said, wanted, "{}", core.name);
    }
}

#[test]
fn without_debug_information_what_waits_is_said_to_be_unknown() {
    for case in cases_of("asio-coroutines") {
        let exe = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("asio-{}", case.variant));
        let mut strip = Command::new("strip");
        let status = strip.args(["--strip-debug", "-o"]).args([&exe, &case.exe]).status();
        assert!(status.expect("strip runs").success());
        let core = open(case.core.clone(), exe);
        let records = crate::harness::json_on(&core, "::reactors");
        let text: String = records.iter().map(ToString::to_string).collect();
        assert!(text.contains("has no debug information of it"), "{text}");
    }
}

#[test]
fn a_process_without_a_reactor_is_said_to_have_none() {
    for core in crate::cases().iter().map(Opened::of) {
        let text: String = core.records("::reactors").iter().map(ToString::to_string).collect();
        assert!(text.contains("no reactor that is known"), "{}: {text}", core.name);
    }
}
