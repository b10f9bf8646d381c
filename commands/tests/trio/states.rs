//! Which tasks there are: states, names, nurseries and parents.

use std::collections::HashSet;

use crate::{Opened, address, cases};

#[test]
fn all_that_did_not_end_are_listed_and_no_others() {
    for core in cases().iter().map(Opened::of) {
        let told: HashSet<u64> =
            core.told().iter().filter_map(|told| address(&told["at"])).collect();
        let listed = core.records("::trio");
        let listed: HashSet<u64> =
            listed.iter().filter_map(|row| address(&row["address"])).collect();
        assert!(told.len() > 30, "{}", core.name);
        assert_eq!(listed, told, "{}", core.name);
    }
}

#[test]
fn each_is_as_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        for (told, row) in core.both() {
            for key in ["name", "state", "cancelled"] {
                assert_eq!(row[key], told[key], "{}: {key} of {row:#}", core.name);
            }
            for key in ["nursery", "parent"] {
                let (shown, told) = (address(&row[key]), address(&told[key]));
                assert_eq!(shown, told, "{}: {key} of {row:#}", core.name);
            }
        }
    }
}

#[test]
fn every_state_is_there() {
    for core in cases().iter().map(Opened::of) {
        for state in ["running", "runnable", "blocked"] {
            let told = core.told().iter().filter(|told| told["state"] == state).count();
            let shown = core.records(&format!("::trio -s {state}")).len();
            assert!(shown > 0, "{}: {state}", core.name);
            assert_eq!(shown, told, "{}: {state}", core.name);
        }
    }
}

#[test]
fn one_that_runs_is_the_thread_that_died() {
    for core in cases().iter().map(Opened::of) {
        let running = core.records("::trio -s running");
        let crashed = core.core.tids().first().map(|tid| u64::from(tid.get()));
        assert_eq!(running[0]["thread"].as_u64(), crashed, "{}: {running:#?}", core.name);
        let blocked = core.records("::trio -s blocked");
        assert!(blocked.iter().all(|row| row["thread"].is_null()), "{}", core.name);
    }
}

#[test]
fn they_are_among_the_tasks_of_all_runtimes() {
    for core in cases().iter().map(Opened::of) {
        let tasks = core.records("::tasks -r trio");
        let tasks = tasks.iter().filter(|row| row["type"] == "task").count();
        assert_eq!(tasks, core.told().len(), "{}", core.name);
        let runtimes = core.core.tasks().runtimes();
        let version = runtimes.identities().find(|it| it.name == "trio").expect("trio");
        let version = version.version.as_deref().expect("a version");
        let expected = match core.name.as_str() {
            "trio-old/python3.8" => "0.12.1",
            "trio/python3.8" => "0.27.0",
            _ => "0.35.0",
        };
        assert_eq!(version, expected, "{}", core.name);
    }
}
