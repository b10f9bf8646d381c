//! Which greenlets there are: states, classes, parents and threads.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::{Opened, address, cases};

#[test]
fn all_that_did_not_end_are_listed_and_no_others() {
    for core in cases().iter().map(Opened::of) {
        let told = core.told("greenlets.jsonl");
        let living = told.iter().filter(|told| told["state"] != "ended");
        let living: HashSet<u64> = living.filter_map(|told| address(&told["at"])).collect();
        let listed = core.records("::greenlets");
        let listed: HashSet<u64> =
            listed.iter().filter_map(|row| address(&row["address"])).collect();
        assert!(living.len() > 40, "{}", core.name);
        assert_eq!(listed, living, "{}", core.name);
    }
}

#[test]
fn each_is_as_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        let rows = core.records("::greenlets");
        let rows: HashMap<u64, &Value> =
            rows.iter().filter_map(|row| Some((address(&row["address"])?, row))).collect();
        let told = core.told("greenlets.jsonl");
        for told in told.iter().filter(|told| told["state"] != "ended") {
            let row = rows[&address(&told["at"]).expect("an address")];
            let both = |key: &str| (row[key].clone(), told[key].clone());
            for key in ["state", "class", "main"] {
                let (shown, told) = both(key);
                assert_eq!(shown, told, "{}: {key} of {row:#}", core.name);
            }
            let (shown, parent) = both("parent");
            assert_eq!(address(&shown), address(&parent), "{}: {row:#}", core.name);
            if told["state"] == "suspended" {
                assert_eq!(row["thread"], told["tid"], "{}: {row:#}", core.name);
                let last =
                    told["frames"].as_array().and_then(|frames| frames.last()).expect("frames");
                assert_eq!(row["function"], last["function"], "{}: {row:#}", core.name);
            }
        }
    }
}

#[test]
fn those_that_did_not_begin_are_told_with_what_they_were_made_for() {
    for core in cases().iter().map(Opened::of) {
        let created = core.records("::greenlets -s created");
        let functions: HashSet<Option<&str>> =
            created.iter().map(|row| row["function"].as_str()).collect();
        let is_qualified = functions.contains(&Some("Holder.method"));
        assert!(is_qualified && functions.contains(&Some("leave")), "{}: {functions:?}", core.name);
        // What is made in C has no name that can be read without its file.
        assert!(functions.contains(&None), "{}: {functions:?}", core.name);
    }
}

#[test]
fn one_that_runs_is_its_threads() {
    for core in cases().iter().map(Opened::of) {
        let running = core.records("::greenlets -s running");
        let threads: Vec<Option<u64>> = running
            .iter()
            .filter(|row| row["main"] == false)
            .map(|row| row["thread"].as_u64())
            .collect();
        assert_eq!(threads.len(), 2, "{}: {running:#?}", core.name);
        // The main one of a thread that runs it is the thread's, too, and each has what its thread executes.
        let is_told = |row: &&Value| {
            row["thread"].is_u64() && row["line"].is_u64() && row["function"].is_string()
        };
        assert!(running.len() > 2 && running.iter().all(|row| is_told(&row)), "{running:#?}");
        // The thread that died is the first one.
        let crashed = core.core.tids().first().map(|tid| u64::from(tid.get()));
        assert!(
            threads.contains(&crashed) && !threads.contains(&None),
            "{}: {threads:?}",
            core.name
        );
    }
}

#[test]
fn a_state_that_is_none_is_refused() {
    let Some(core) = cases().first().map(Opened::of) else { return };
    let records = core.records("::greenlets -s asleep");
    assert!(records.iter().any(|record| record["type"] == "error"), "{records:#?}");
}
