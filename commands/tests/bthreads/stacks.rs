//! The stacks of bthreads: those that wait, by what was saved, and those that run, by their threads.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Opened, cores, cores_without_types, is_on_worker, made, open, told};

/// Functions of a stack, innermost first.
pub fn functions(record: &Value) -> Vec<String> {
    let frames = record["frames"].as_array().expect("frames");
    let names = frames.iter().map(|frame| frame["function"].as_str().unwrap_or("?").to_owned());
    names.collect()
}

/// The program's own functions on a stack, and those before and behind them.
fn check_one(core: &Opened, id: &str, told: &Value, record: &Value) {
    let functions = functions(record);
    let function = told["function"].as_str().expect("a function");
    if function.is_empty() {
        assert!(functions.is_empty(), "{} {id}: {functions:?}", core.name);
        return;
    }
    let depth = told["depth"].as_u64().expect("a depth");
    let own = functions.iter().filter(|name| *name == function).count() as u64;
    assert_eq!(own, depth + 1, "{} {id} {told}: {functions:?}", core.name);
    let runner = functions.iter().position(|name| name == "bthread::TaskGroup::task_runner");
    assert!(runner.is_some(), "{} {id}: {functions:?}", core.name);
    assert_eq!(record["end"]["reason"], "outermost", "{} {id}: {record}", core.name);
    if is_on_worker(told) {
        // The worker calls what begins other stacks, on its own.
        let worker = if core.is_real() { "bthread::TaskControl::worker_thread" } else { "worker" };
        let caller = functions.iter().position(|name| name == worker);
        assert!(runner < caller, "{} {id}: {functions:?}", core.name);
        return;
    }
    // The first function of a stack of Boost.Context calls it here; nothing called that one.
    let before = if core.has_own_switch() { 1 } else { 2 };
    assert_eq!(runner, functions.len().checked_sub(before), "{} {id}: {functions:?}", core.name);
}

/// All stacks of a process.
pub fn check(core: &Opened) {
    let records = core.records("::walk bthread | ::stack");
    let id = |record: &Value| record["task"]["id"].as_str().expect("an id").to_owned();
    let records: BTreeMap<String, Value> =
        records.into_iter().map(|record| (id(&record), record)).collect();
    for (id, told) in &core.told {
        check_one(core, id, told, records.get(id).unwrap_or(&Value::Null));
    }
}

#[test]
fn every_stack_is_the_one_that_the_bthread_knows() {
    cores().iter().chain(cores_without_types()).for_each(check);
}

#[test]
fn threads_say_which_bthread_they_run() {
    for core in cores() {
        let running = core.told.values().filter(|told| told["state"] == "running");
        let mut count = 0;
        for told in running {
            let record = core.records(&format!("0t{}::stack", told["tid"])).remove(0);
            assert_eq!(record["task"]["id"], told["bthread"], "{}: {record}", core.name);
            assert_eq!(record["tid"], told["tid"], "{}: {record}", core.name);
            count += 1;
        }
        assert!(count >= 3, "{}: {count}", core.name);
    }
}

#[test]
fn groups_have_all_bthreads_once() {
    for core in cores() {
        let groups = core.records("::stacks");
        let listed = |key: &str| {
            let lists = groups.iter().filter_map(|group| group[key].as_array());
            lists.flatten().cloned().collect::<Vec<Value>>()
        };
        let waiting = core.told.values().filter(|told| told["state"] != "running").count();
        let parked = core.records("::bthreads -w").len();
        assert_eq!(listed("tasks").len(), waiting + parked, "{}", core.name);
        assert_eq!(listed("tids").len(), core.core.tids().len(), "{}", core.name);
        let threads = core.records("::stacks -L");
        assert!(threads.iter().all(|group| group["tasks"] == Value::Array(vec![])));
        let piped = core.records("::walk bthread | ::stacks");
        let piped =
            piped.iter().map(|group| group["count"].as_u64().expect("a count")).sum::<u64>();
        assert_eq!(piped, core.told.len() as u64, "{}", core.name);
    }
}

#[test]
fn workers_say_which_bthread_they_run_on_their_own_stacks() {
    for (scenario, variant) in [("brpc", "O2-pie"), ("brpc", "O0-pie-gcore")] {
        let Some(case) = made(scenario, variant) else { continue };
        let mut functions = Vec::new();
        for told in told(&case).values().filter(|told| is_on_worker(told)) {
            // Asked before anybody asks for bthreads.
            let core = open(&case, None);
            let record = core.records(&format!("0t{}::stack", told["tid"])).remove(0);
            assert_eq!(record["task"]["id"], told["bthread"], "{}: {record}", core.name);
            functions.extend(told["function"].as_str().map(ToOwned::to_owned));
        }
        functions.sort_unstable();
        let expected = ["sleeps_on_worker", "spins_on_worker", "waits_on_worker"];
        assert_eq!(functions, expected, "{scenario}/{variant}");
    }
}
