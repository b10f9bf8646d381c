//! Which bthreads there are, and what they do.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Opened, cores, cores_without_types, harness};

pub fn found(core: &Opened) -> BTreeMap<String, Value> {
    let records = core.records("::bthreads").into_iter();
    records.map(|record| (record["id"].as_str().expect("an id").to_owned(), record)).collect()
}

/// Where what was found differs from what a bthread told.
fn difference(told: &Value, found: Option<&Value>) -> Option<String> {
    let Some(found) = found else { return Some(format!("{told} is not listed")) };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let state = text(&told["state"]);
    let thread = if state == "running" { &told["tid"] } else { &Value::Null };
    let seen_butex = text(&found["butex"]["address"]);
    let butex = match (text(&told["on"]).as_str(), text(&told["butex"]).as_str()) {
        ("" | "timer", _) => String::new(),
        // Known to bRPC alone.
        ("join", "(nil)") => seen_butex.clone(),
        (_, butex) => butex.to_owned(),
    };
    let told = [state, text(&told["on"]), butex];
    let seen = [text(&found["state"]), text(&found["waits_for"]), seen_butex];
    let differs = told != seen || *thread != found["thread"];
    differs.then(|| format!("{found}: {seen:?} for {told:?}, on {thread}"))
}

pub fn check(core: &Opened) {
    let found = found(core);
    let differences: Vec<String> =
        core.told.iter().filter_map(|(id, told)| difference(told, found.get(id))).collect();
    assert!(differences.is_empty(), "{}:\n{}", core.name, differences.join("\n"));
    // Those that ended, and slots that were used again, are not listed.
    let unknown: Vec<&String> = found.keys().filter(|id| !core.told.contains_key(*id)).collect();
    assert!(unknown.is_empty(), "{}: {unknown:?}", core.name);
    assert!(found.len() > 100, "{}: {}", core.name, found.len());
}

#[test]
fn every_bthread_is_listed_with_its_state() {
    cores().iter().for_each(check);
}

#[test]
fn timers_that_are_late_or_have_gone_off_are_told_apart() {
    for core in cores().iter().filter(|core| core.name.starts_with("brpc/")) {
        let found = found(core);
        let of = |function: &str| {
            let told = core.told.iter().filter(|(_, told)| told["function"] == function);
            told.map(|(id, _)| &found[id]).collect::<Vec<_>>()
        };
        let (naps, late) = (of("naps"), of("oversleeps"));
        assert_eq!((naps.len(), late.len()), (3, 3), "{}", core.name);
        for record in naps {
            assert_eq!((&record["state"], &record["waits_for"]), (&"ready".into(), &Value::Null));
        }
        for record in late {
            assert_eq!(
                (&record["state"], &record["waits_for"]),
                (&"sleeping".into(), &"timer".into())
            );
            // No time is made up of one that has passed.
            let text = harness::run_on(
                &core.core,
                &format!("{}::bthread", record["id"].as_str().expect("an id")),
            );
            assert!(text.out.contains("sleeping, on timer\n"), "{}: {}", core.name, text.out);
        }
    }
}

#[test]
fn layouts_are_found_in_memory() {
    for core in cores_without_types() {
        check(core);
        let runtime = core.records("::runtimes").remove(0);
        let source = runtime["metadata"].as_str().expect("a source").to_owned();
        assert!(source.contains("found by its size"), "{}: {source}", core.name);
    }
}

#[test]
fn names_are_those_that_were_given() {
    for core in cores().iter().filter(|core| core.name.starts_with("bthreads-1")) {
        let has_names =
            ["bthreads-16", "bthreads-18"].iter().any(|name| core.name.starts_with(name));
        let named = found(core).values().filter(|found| found["name"].is_string()).count();
        assert_eq!(named > 100, has_names, "{}: {named}", core.name);
    }
}
