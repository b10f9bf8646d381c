//! What goroutines wait for, what they began with and their labels, held against what the program told.

use std::{collections::BTreeMap, fs};

use gen_cores::Case;
use serde_json::{Value, json};

use crate::{Opened, cases, open};

/// The lines of what was told that begin with a word, as words.
fn told(case: &Case, of: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(case.dir.join("waits.txt")).expect("what it told");
    let lines = text.lines().filter_map(|line| line.strip_prefix(of)?.strip_prefix(' '));
    lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

fn by_id(core: &Opened) -> BTreeMap<String, Value> {
    let listed = core.records("::goroutines").into_iter();
    listed.map(|record| (record["id"].to_string(), record)).collect()
}

/// A channel as the program spells it.
fn spelled(channel: &Value) -> String {
    let list = |key: &str| {
        let all = channel[key].as_array().expect("a list").iter();
        let text = |value: &Value| value["value"].as_str().map_or(value.to_string(), str::to_owned);
        format!("[{}]", all.map(text).collect::<Vec<_>>().join(" "))
    };
    let state = if channel["closed"] == true { "closed" } else { "open" };
    let (element, address) = (&channel["element"], &channel["address"]);
    format!(
        "{} {} {} {} {state} {} {} {}",
        address.as_str().expect("an address"),
        element.as_str().expect("a type"),
        channel["count"],
        channel["capacity"],
        list("values"),
        list("receivers"),
        list("senders"),
    )
}

#[test]
fn channels_have_their_values_and_who_waits_for_them() {
    for case in cases("go-waits") {
        let core = open(&case);
        let channels = told(&case, "channel");
        assert_eq!(channels.len(), 4, "{}", core.name);
        for told in channels {
            let at = told[0].trim_start_matches("0x");
            let channel = core.records(&format!("{at}::channel")).remove(0);
            assert_eq!(spelled(&channel), told.join(" "), "{}", core.name);
            let waiting = core.records(&format!("::goroutines -w {at}"));
            let mut waiting: Vec<u64> = waiting.iter().filter_map(|it| it["id"].as_u64()).collect();
            let sides =
                ["receivers", "senders"].map(|side| channel[side].as_array().expect("a list"));
            let mut both: Vec<u64> =
                sides.into_iter().flatten().filter_map(Value::as_u64).collect();
            waiting.sort_unstable();
            both.sort_unstable();
            assert_eq!(waiting, both, "{} {at}", core.name);
        }
    }
}

/// By its number or from a pipe, a goroutine stands for all channels of its `select`.
#[test]
fn a_select_leads_to_all_its_channels() {
    for case in cases("go-waits") {
        let core = open(&case);
        let both: Vec<String> =
            told(&case, "channel")[2..].iter().map(|it| it[0].clone()).collect();
        let selecting = core.records("::goroutines -r SELECT -f main");
        assert_eq!(selecting.len(), 1, "{}: {selecting:?}", core.name);
        let lines = [
            format!("0t{}::channel", selecting[0]["id"]),
            "::goroutines -r select -f main | ::channel".into(),
        ];
        for line in lines {
            let found = core.records(&line);
            let mut found: Vec<&str> =
                found.iter().filter_map(|it| it["address"].as_str()).collect();
            found.sort_unstable();
            let mut expected: Vec<&str> = both.iter().map(String::as_str).collect();
            expected.sort_unstable();
            assert_eq!(found, expected, "{} {line}", core.name);
        }
    }
}

#[test]
fn a_state_that_go_does_not_have_is_refused() {
    for case in cases("go-waits").into_iter().take(1) {
        let core = open(&case);
        let refused = crate::harness::json_on(&core.core, "::goroutines -s sleeping");
        assert_eq!(refused[0]["type"], "error", "{refused:?}");
        assert!(!core.records("::goroutines -s waiting").is_empty(), "{}", core.name);
    }
}

/// A channel to which no type leads is told by its own fields, and a `runtime.g` by the list of goroutines.
#[test]
fn objects_of_the_runtime_are_named() {
    for case in cases("go-waits") {
        let core = open(&case);
        let main = core.records("1::goroutine").remove(0);
        let what = |at: &str| core.records(&format!("{at}::whatis"))[0].to_string();
        let g = what(main["g"].as_str().expect("an address"));
        // The one that the process began with lies in the data of the program.
        let other = core.records("::goroutines -r select -f main").remove(0);
        let other = what(other["g"].as_str().expect("an address"));
        assert!(other.contains("runtime.g of goroutine"), "{}: {other} {g}", core.name);
        for told in told(&case, "channel") {
            let what = what(told[0].trim_start_matches("0x"));
            assert!(what.contains(&format!("chan {}", told[1])), "{}: {what}", core.name);
        }
    }
}

#[test]
fn what_is_no_channel_is_refused() {
    for case in cases("go-waits").into_iter().take(1) {
        let core = open(&case);
        for at in ["0", "fff8", &told(&case, "mutex")[0][1]] {
            let line = format!("{}::channel", at.trim_start_matches("0x"));
            let records = crate::harness::json_on(&core.core, &line);
            assert_eq!(records[0]["type"], "error", "{line}: {records:?}");
        }
    }
}

#[test]
fn mutexes_are_known_by_those_who_wait_for_them() {
    for case in cases("go-waits") {
        let core = open(&case);
        let listed = by_id(&core);
        let mutexes = told(&case, "mutex");
        assert_eq!(mutexes.len(), 5, "{}", core.name);
        for told in mutexes {
            let record = &listed[&told[0]];
            let not_done =
                if record["semaphore_kind"] == "sync.WaitGroup" { json!(2) } else { json!(null) };
            assert_eq!(record["not_done"], not_done, "{}: {record}", core.name);
            let at = record["semaphore"].as_str().and_then(|at| at.strip_prefix("0x"));
            let at = at.and_then(|at| u64::from_str_radix(at, 16).ok());
            let mutex =
                u64::from_str_radix(told[1].trim_start_matches("0x"), 16).expect("a number");
            let kind = record["semaphore_kind"].as_str();
            assert_eq!((kind, at), (Some(&*told[2]), Some(mutex)), "{}", core.name);
        }
    }
}

#[test]
fn goroutines_begin_with_functions_of_the_program() {
    for case in cases("go-waits") {
        let core = open(&case);
        let listed = by_id(&core);
        let entries = told(&case, "entry");
        assert_eq!(entries.len(), 9, "{}", core.name);
        for told in entries {
            assert_eq!(
                listed[&told[0]]["entry_function"],
                told[1].as_str(),
                "{} {told:?}",
                core.name
            );
        }
    }
}

#[test]
fn labels_are_those_that_the_program_set() {
    for case in cases("go-waits") {
        let core = open(&case);
        let listed = by_id(&core);
        let labelled = told(&case, "labels").remove(0);
        let own = listed[&labelled[0]]["labels"].as_str().expect("labels").to_owned();
        let (kind, request) = ("kind=slow one", "request=17");
        assert_eq!(labelled[1..].join(" "), format!("{kind} {request}"));
        // A map, which they are before Go 1.24, has no order.
        let orders = [format!("{kind} {request}"), format!("{request} {kind}")];
        assert!(orders.contains(&own), "{}: {own}", core.name);
        let labels = listed.values().filter(|record| !record["labels"].is_null());
        assert_eq!(labels.count(), 1, "{}", core.name);
    }
}

#[test]
fn how_long_they_wait_is_known_where_the_collector_saw_it() {
    for case in cases("go-waits") {
        let core = open(&case);
        let seconds = |record: &Value| record["waits_seconds"].as_u64();
        let known: Vec<u64> = core.records("::goroutines").iter().filter_map(seconds).collect();
        assert!(!known.is_empty(), "{}", core.name);
        assert!(known.iter().all(|seconds| *seconds < 60), "{}: {known:?}", core.name);
        let none = core.records("::goroutines -m 1");
        assert!(matches!(none.as_slice(), [only] if only["type"] == "note"), "{none:?}");
        assert!(core.records("::goroutines -m 0").len() >= known.len(), "{}", core.name);
    }
}
