//! Workers that were stopped in the midst of a switch: at each instruction of it, and at some behind it.

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::Value;

use crate::{Opened, made, open, stacks::functions, states::found, without_types};

/// bRPC's own switch, and one of a program's own with bRPC's structures.
const CASES: &[(&str, &str)] = &[
    ("brpc-switch", "O2-pie"),
    ("brpc-switch", "O2-pie-gcore"),
    ("bthreads-switch", "O2-pie"),
    ("bthreads-switch", "O0-pie"),
    ("bthreads-switch", "O2-pie-gcore"),
];

const RUNNER: &str = "bthread::TaskGroup::task_runner";
/// Functions that may stand before a bthread's first one.
const BEFORE: &[&str] = &["", "bthread_make_fcontext"];

/// All cores, with debug information and without.
fn cores() -> &'static [Opened] {
    static CORES: LazyLock<Vec<Opened>> = LazyLock::new(|| {
        let cases: Vec<_> =
            CASES.iter().filter_map(|(scenario, variant)| made(scenario, variant)).collect();
        let plain = cases.iter().map(|case| open(case, None));
        plain.chain(cases.iter().map(|case| open(case, Some(without_types(case))))).collect()
    });
    &CORES
}

/// The bthreads that have not ended.
fn living(core: &Opened) -> impl Iterator<Item = (&String, &Value)> {
    core.told.iter().filter(|(_, told)| told["state"] != "ended")
}

/// The words for what a bthread that told `told` may be found to do. It may have been stopped before it came
/// to what it told.
fn may_be(told: &Value) -> &'static [&'static str] {
    match told["state"].as_str().unwrap_or_default() {
        "sleeping" => &["switching", "sleeping"],
        "ready" => &["switching", "ready"],
        _ => &["switching", "running"],
    }
}

/// Frames of a stack that no peer may show: none is guessed, and none is another one's.
fn check_frames(core: &Opened, record: &Value) {
    let frames = record["frames"].as_array().expect("frames");
    for frame in frames {
        let trust = frame["trust"].as_str().unwrap_or_default();
        let is_sure =
            ["context", "cfi", "runtime", "code", "prologue", "tail_call"].contains(&trust);
        assert!(is_sure, "{}: {record}", core.name);
    }
    if !frames.is_empty() {
        assert_eq!(record["end"]["reason"], "outermost", "{}: {record}", core.name);
    }
}

fn check_stack(core: &Opened, told: &Value, record: &Value) {
    check_frames(core, record);
    let functions = functions(record);
    let own = told["function"].as_str().expect("a function");
    let count = functions.iter().filter(|name| *name == own).count() as u64;
    let depth = told["depth"].as_u64().expect("a depth") + 1;
    // One that begins in the switch may not have come to its function.
    let may_lack = own == "is_begun" && count == 0;
    assert!(count == depth || may_lack, "{} {told}: {functions:?}", core.name);
    let outermost = functions.iter().rev().find(|name| !BEFORE.contains(&name.as_str()));
    assert!(
        may_lack && functions.is_empty() || outermost.is_some_and(|name| name == RUNNER),
        "{} {told}: {functions:?}",
        core.name
    );
}

#[test]
fn nobody_is_lost_in_a_switch() {
    for core in cores() {
        let found = found(core);
        let living: BTreeMap<&String, &Value> = living(core).collect();
        assert!(found.keys().eq(living.keys().copied()), "{}", core.name);
        let differs = |(id, told): (&&String, &&Value)| {
            let state = found[*id]["state"].as_str().unwrap_or_default().to_owned();
            (!may_be(told).contains(&state.as_str())).then(|| format!("{told}: {state}"))
        };
        let differences: Vec<String> = living.iter().filter_map(differs).collect();
        assert!(differences.is_empty(), "{}:\n{}", core.name, differences.join("\n"));
        // Workers are in all parts of a switch, and no bthread is on two of them.
        let switching = found.values().filter(|found| found["state"] == "switching").count();
        assert!(switching > 60, "{}: {switching}", core.name);
    }
}

#[test]
fn stacks_are_right_at_every_instruction_of_a_switch() {
    for core in cores() {
        let records = core.records("::walk bthread | ::stack").into_iter();
        let id = |record: &Value| record["task"]["id"].as_str().expect("an id").to_owned();
        let records: BTreeMap<String, Value> =
            records.map(|record| (id(&record), record)).collect();
        for (id, told) in living(core) {
            check_stack(core, told, &records[id]);
        }
    }
}

#[test]
fn threads_in_a_switch_are_on_one_stack_each() {
    for core in cores() {
        let threads = core.records("::walk thread | ::stack");
        assert_eq!(threads.len(), core.core.tids().len(), "{}", core.name);
        let mut on_stacks = BTreeMap::new();
        for record in &threads {
            check_frames(core, record);
            if let Some(id) = record["task"]["id"].as_str() {
                let other = on_stacks.insert(id, &record["tid"]);
                assert_eq!(other, None, "{}: two threads run {id}", core.name);
            }
            // A thread that is on a bthread's stack says so, but where that has ended.
            let functions = functions(record);
            let has_own = functions.iter().any(|name| name == "switches" || name == "is_begun");
            assert!(!has_own || record["task"].is_object(), "{}: {record}", core.name);
        }
    }
}
