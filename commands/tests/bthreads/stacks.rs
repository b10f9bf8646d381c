//! The stacks of bthreads: those that wait, by what was saved, and those that run, by their threads.

use serde_json::Value;

use crate::{Opened, cores, cores_without_types};

/// Functions of a stack, innermost first.
fn functions(record: &Value) -> Vec<String> {
    let frames = record["frames"].as_array().expect("frames");
    let names = frames.iter().map(|frame| frame["function"].as_str().unwrap_or("?").to_owned());
    names.collect()
}

/// The program's own functions on a stack, and those before and behind them.
fn check_one(core: &Opened, id: &str, told: &Value) {
    let mut records = core.records(&format!("{id}::stack"));
    assert_eq!(records.len(), 1, "{} {id}: {records:?}", core.name);
    let record = records.remove(0);
    assert_eq!(record["task"]["id"], *id, "{}: {record}", core.name);
    let functions = functions(&record);
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
    // The first function of a stack of Boost.Context calls it here; nothing called that one.
    assert_eq!(runner, functions.len().checked_sub(2), "{} {id}: {functions:?}", core.name);
    assert_eq!(record["end"]["reason"], "outermost", "{} {id}: {record}", core.name);
}

#[test]
fn every_stack_is_the_one_that_the_bthread_knows() {
    for core in cores().iter().chain(&cores_without_types()) {
        for (id, told) in &core.told {
            check_one(core, id, told);
        }
    }
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
        assert_eq!(count, 3, "{}", core.name);
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
        assert_eq!(listed("tasks").len(), waiting, "{}", core.name);
        assert_eq!(listed("tids").len(), core.core.tids().len(), "{}", core.name);
        let threads = core.records("::stacks -L");
        assert!(threads.iter().all(|group| group["tasks"] == Value::Array(vec![])));
        let piped = core.records("::walk bthread | ::stacks");
        let piped =
            piped.iter().map(|group| group["count"].as_u64().expect("a count")).sum::<u64>();
        assert_eq!(piped, core.told.len() as u64, "{}", core.name);
    }
}
