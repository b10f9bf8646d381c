//! Which fibers there are, and what they do.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Opened, Symbols, cores};

/// Nanoseconds of an hour: much more than a program takes from what it tells to what it does.
const HOUR: u64 = 3_600_000_000_000;

fn found(core: &Opened) -> BTreeMap<String, Value> {
    let records = core.records("::fibers").into_iter();
    records
        .map(|record| (record["address"].as_str().expect("an address").to_owned(), record))
        .collect()
}

fn text<'a>(record: &'a Value, key: &str) -> &'a str {
    record[key].as_str().unwrap_or_default()
}

/// Whether what is said of a fiber's state is what it told. That one has not run yet is seen by its function's name,
/// which the library that a distribution installs lacks for the scheduler's own.
fn state_fits(core: &Opened, told: &Value, found: &Value) -> bool {
    let (state, seen) = (text(told, "state"), text(found, "state"));
    let may_lack_names = text(told, "kind") == "dispatcher" || core.symbols == Symbols::Exported;
    state == seen || (state == "created" && seen == "ready" && may_lack_names)
}

/// Whether what it waits for is named as it told. Functions that were inlined have names in debug information alone.
fn kind_fits(core: &Opened, told: &Value, found: &Value) -> bool {
    let (on, seen) = (text(told, "on"), text(found, "waits_for"));
    on == seen || (core.symbols != Symbols::Debug && ["", "condition"].contains(&seen))
}

/// Where its scheduler's queue is one that several share, it has none while it is ready.
fn scheduler_fits(core: &Opened, told: &Value, found: &Value) -> bool {
    let is_shared = core.name.starts_with("fibers-");
    let is_ready = ["ready", "created"].contains(&text(told, "state"));
    told["tid"] == found["scheduler"]
        || (is_shared && is_ready && told["kind"] == "worker" && found["scheduler"].is_null())
}

fn times_fit(told: &Value, found: &Value) -> bool {
    match (told["until"].as_u64(), found["until"].as_u64()) {
        (Some(0), seen) => seen.is_none(),
        (Some(told), Some(seen)) => (told..told + HOUR).contains(&seen),
        _ => false,
    }
}

/// Where what was found differs from what a fiber told.
fn difference(core: &Opened, told: &Value, found: Option<&Value>) -> Option<String> {
    let Some(found) = found else { return Some(format!("{told} is not listed")) };
    let thread = if told["state"] == "running" { &told["tid"] } else { &Value::Null };
    let queue = match text(told, "queue") {
        "(nil)" => "",
        queue => queue,
    };
    let fits = state_fits(core, told, found)
        && kind_fits(core, told, found)
        && scheduler_fits(core, told, found)
        && times_fit(told, found)
        && text(told, "kind") == text(found, "kind")
        && queue == text(found, "queue")
        && (told["on"] == "join") == found["joins"].is_string()
        && *thread == found["thread"];
    (!fits).then(|| format!("{told}\n  {found}"))
}

pub fn check(core: &Opened) {
    let found = found(core);
    let differences: Vec<String> =
        core.told.iter().filter_map(|(at, told)| difference(core, told, found.get(at))).collect();
    assert!(differences.is_empty(), "{}:\n{}", core.name, differences.join("\n"));
    // Those that ended are not listed.
    let unknown: Vec<&String> = found.keys().filter(|at| !core.told.contains_key(*at)).collect();
    assert!(unknown.is_empty(), "{}: {unknown:?}", core.name);
    assert!(found.len() > 60, "{}: {}", core.name, found.len());
}

#[test]
fn every_fiber_is_listed_with_its_state() {
    for symbols in [Symbols::Debug, Symbols::Names, Symbols::Exported] {
        cores(symbols).iter().for_each(check);
    }
}

/// The function that a fiber was made with, by that which it told.
fn entry(told: &Value) -> &'static str {
    match text(told, "function") {
        "sleeps" | "sleeper" => "sleeper",
        "yields" => "yielder",
        "dies" => "last",
        "spins" => "",
        _ => "body",
    }
}

#[test]
fn fibers_say_what_they_were_made_with() {
    for core in cores(Symbols::Debug).iter().chain(cores(Symbols::Names)) {
        let found = found(core);
        for (at, told) in core.told.iter().filter(|(_, told)| told["kind"] == "worker") {
            let found = &found[at];
            assert_eq!(text(found, "function"), entry(told), "{}: {told}: {found}", core.name);
            let callable = text(found, "callable");
            assert_eq!(
                callable.contains("lambda"),
                entry(told).is_empty(),
                "{}: {found}",
                core.name
            );
        }
        let bound =
            found.values().filter(|found| text(found, "callable").starts_with("std::_Bind"));
        assert_eq!(bound.count(), 20, "{}", core.name);
    }
}

#[test]
fn layouts_are_those_of_releases() {
    for core in cores(Symbols::Debug) {
        let runtimes = core.records("::runtimes");
        assert_eq!(runtimes.len(), 1, "{}: {runtimes:?}", core.name);
        assert_eq!(runtimes[0]["name"], "fiber", "{}", core.name);
        let source = text(&runtimes[0], "metadata");
        assert!(source.contains("which fits memory"), "{}: {source}", core.name);
    }
}
