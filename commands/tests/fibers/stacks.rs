//! The stacks of fibers: those that wait, by what was saved, and those that run, by their threads.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Opened, Symbols, cores};

const FIRST: &str = "boost::context::detail::fiber_entry";

fn functions(record: &Value) -> Vec<&str> {
    let frames = record["frames"].as_array().expect("frames");
    frames.iter().map(|frame| frame["function"].as_str().unwrap_or("?")).collect()
}

/// Frames of a stack that was walked without guesses to its end.
fn check_whole(core: &Opened, told: &Value, record: &Value) {
    for frame in record["frames"].as_array().expect("frames") {
        let trust = frame["trust"].as_str().unwrap_or_default();
        let is_sure = ["context", "cfi", "runtime", "signal", "tail_call"].contains(&trust);
        assert!(is_sure, "{} {told}: {record}", core.name);
    }
    assert_eq!(record["end"]["reason"], "outermost", "{} {told}: {record}", core.name);
}

/// The program's own functions on a stack, and those behind them.
fn check_one(core: &Opened, told: &Value, record: &Value) {
    check_whole(core, told, record);
    let functions = functions(record);
    let has = |name: &str| functions.contains(&name);
    match (told["kind"].as_str(), told["state"].as_str()) {
        (Some("main"), _) => {
            let begins = ["main", "busy", "idle", "resting_on_own_stack"];
            assert!(begins.iter().any(|name| has(name)), "{} {told}: {functions:?}", core.name);
            assert!(!functions.iter().any(|name| name.starts_with(FIRST)), "{functions:?}");
        }
        (Some("dispatcher"), Some("created")) => assert_eq!(functions.len(), 1, "{functions:?}"),
        (Some("dispatcher"), _) => {
            assert!(has("boost::fibers::scheduler::dispatch"), "{} {functions:?}", core.name);
        }
        (_, state) => {
            let name = told["function"].as_str().expect("a function");
            let own = functions.iter().filter(|function| **function == name).count() as u64;
            let depth = told["depth"].as_u64().expect("a depth");
            let expected = if state == Some("created") { 0 } else { depth + 1 };
            assert_eq!(own, expected, "{} {told}: {functions:?}", core.name);
            let first = functions.iter().rev().take(2).any(|name| name.starts_with(FIRST));
            assert!(first, "{} {told}: {functions:?}", core.name);
        }
    }
}

/// All stacks of a process.
pub fn check(core: &Opened) {
    let fibers = core.records("::fibers");
    let stacks = core.records("::fibers | ::stack");
    assert_eq!(fibers.len(), stacks.len(), "{}", core.name);
    let walked = core.records("::walk fiber | ::stack");
    assert_eq!(walked, stacks, "{}", core.name);
    let at = |fiber: &Value| fiber["address"].as_str().expect("an address").to_owned();
    let stacks: BTreeMap<String, &Value> = fibers.iter().map(at).zip(&stacks).collect();
    for (at, told) in &core.told {
        check_one(core, told, stacks[at]);
    }
}

#[test]
fn every_stack_is_the_one_that_the_fiber_knows() {
    cores(Symbols::Debug).iter().chain(cores(Symbols::Names)).for_each(check);
}

#[test]
fn threads_say_which_fiber_they_run() {
    for core in cores(Symbols::Debug).iter().chain(cores(Symbols::Names)) {
        let mut count = 0;
        for told in core.told.values().filter(|told| told["state"] == "running") {
            let line = format!("0t{}::stack", told["tid"]);
            // Before anybody asked for tasks and after.
            for record in [core.records(&line).remove(0), core.records(&line).remove(0)] {
                let fiber = if told["kind"] == "main" { &Value::Null } else { &told["fiber"] };
                let task = &record["task"];
                assert_eq!(task["id"], *fiber, "{}: {told}: {record}", core.name);
                assert_eq!(record["tid"], told["tid"], "{}: {record}", core.name);
            }
            count += 1;
        }
        assert_eq!(count, 4, "{}", core.name);
    }
}

#[test]
fn groups_have_all_fibers_once() {
    for core in cores(Symbols::Debug) {
        let groups = core.records("::stacks");
        let listed = |key: &str| {
            let lists = groups.iter().filter_map(|group| group[key].as_array());
            lists.flatten().count()
        };
        let left = core.told.values().filter(|told| told["state"] != "running").count();
        assert_eq!(listed("tasks"), left, "{}", core.name);
        assert_eq!(listed("tids"), core.core.tids().len(), "{}", core.name);
    }
}

#[test]
fn a_search_finds_none_of_them_again() {
    for core in cores(Symbols::Debug).iter().chain(cores(Symbols::Exported)) {
        let found = core.records("::findcontexts | ::stack");
        // What is left is the stack of one that ended, which the program still holds.
        for stack in &found {
            let functions = functions(stack);
            let ended = functions.contains(&"boost::fibers::context::terminate");
            assert!(ended, "{}: {functions:?}", core.name);
        }
        assert!(found.len() <= 1, "{}: {found:?}", core.name);
    }
}
