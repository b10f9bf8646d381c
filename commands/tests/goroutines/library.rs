//! Libraries of releases of Go that no compiler is to be had of, 1.18 and 1.20: what they printed themselves when they
//! died is the truth.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Opened, ends::may_be_hidden, frames, made::made, number, trace::is_shown};

fn libraries() -> Vec<Opened> {
    let cases = ["go-library", "go-library-20"].into_iter();
    cases.filter_map(|name| made(name, "O2-pie")).map(|case| Opened::of(&case)).collect()
}

/// Go prints frames of its runtime too when it dies, but not of all inlined ones: what is held against each other is all
/// else.
fn shown(frames: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    let is_meant = |function: &str| is_shown(function) && !function.starts_with("runtime.");
    frames.into_iter().filter(|(function, _)| is_meant(function)).collect()
}

#[test]
fn goroutines_are_as_their_library_printed_them() {
    for core in libraries() {
        let listed = core.records("::goroutines");
        let listed: BTreeMap<u64, &Value> =
            listed.iter().map(|record| (record["id"].as_u64().expect("an id"), record)).collect();
        let stacks = core.records("::walk goroutine | ::stack");
        let stacks: BTreeMap<u64, &Value> =
            stacks.iter().filter_map(|record| Some((number(record)?, record))).collect();
        assert!(core.told.len() >= 13, "{}: {}", core.name, core.told.len());
        assert_eq!(listed.len(), core.told.len(), "{}", core.name);
        for told in &core.told {
            let record = listed[&told.id];
            let state = record["reason"].as_str().or(record["state"].as_str());
            assert_eq!(state, Some(&*told.state), "{}: {record}", core.name);
            let stack = stacks[&told.id];
            let own = frames(stack);
            let is_meant = |index: usize| {
                own.contains(&told.frames[index]) || !may_be_hidden(&told.frames, index)
            };
            let expected = (0..told.frames.len()).filter(|index| is_meant(*index));
            let expected = shown(expected.map(|index| told.frames[index].clone()));
            assert_eq!(shown(own.clone()), expected, "{} {}", core.name, told.id);
        }
    }
}

/// Threads of C called the library, which waits for an answer; one of them handed it nonsense.
#[test]
fn c_stands_below_go_in_one_stack() {
    for core in libraries() {
        let stacks = core.records("::stacks");
        let has = |function: &str| {
            let of_c = |stack: &&Value| {
                let names: Vec<String> = frames(stack).into_iter().map(|(name, _)| name).collect();
                let at = |wanted: &str| names.iter().position(|name| name == wanted);
                at("main.request").zip(at(function)).is_some_and(|(go, c)| go < c)
            };
            stacks.iter().filter(of_c).count()
        };
        assert!(has("c_asks_nonsense") == 1, "{}", core.name);
        let told = core.records("::goroutines -f main.request");
        assert_eq!(told.len(), 3, "{}", core.name);
    }
}

/// The connections to the server that never answers: one for each thread that asked.
#[test]
fn who_reads_tells_its_descriptor() {
    for core in libraries() {
        let reading = core.records("::goroutines -r 'IO wait'");
        let mut all: Vec<u64> = reading.iter().filter_map(|record| record["fd"].as_u64()).collect();
        assert!(
            reading.iter().all(|record| record["fd_side"] == "read"),
            "{}: {reading:?}",
            core.name
        );
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2, "{}: {reading:?}", core.name);
    }
}

#[test]
fn the_heap_is_whole() {
    for core in libraries() {
        let heap = core.records("::goheap").remove(0);
        assert_eq!(heap["damaged_spans"], 0, "{}: {heap}", core.name);
        assert!(heap["objects"].as_u64() > Some(1000), "{}: {heap}", core.name);
        let waiting = core.records("::goroutines -r select");
        let channel = waiting[0]["channel"].as_str().expect("a channel");
        let what = core.records(&format!("{channel}::whatis"));
        let what = what[0]["object"].as_str().unwrap_or_default();
        assert!(what.contains("chan "), "{}: {what}", core.name);
        assert!(heap["marked"].is_null(), "{}: {heap}", core.name);
    }
}

/// Values by the tables of types alone: until 1.18 the offset of a field has a flag in its lowest bit.
#[test]
fn fields_lie_where_types_say() {
    for core in libraries() {
        let connections = core.records("::classes -c net.TCPConn | ::goprint");
        let reading = core.records("::goroutines -r 'IO wait'");
        assert_eq!(connections.len(), reading.len(), "{}: {connections:?}", core.name);
        for reader in reading {
            let descriptor = format!("Sysfd: {},", reader["fd"]);
            let has =
                |value: &&Value| value["value"].as_str().is_some_and(|it| it.contains(&descriptor));
            assert_eq!(connections.iter().filter(has).count(), 1, "{}: {descriptor}", core.name);
        }
        let unreadable = |value: &&Value| value["value"].to_string().contains("<unreadable>");
        assert_eq!(connections.iter().find(unreadable), None, "{}", core.name);
    }
}

/// The request that each thread made has a context that nobody has ended, for whose end its goroutine waits.
#[test]
fn requests_have_their_contexts() {
    for core in libraries() {
        let contexts = core.records("::gocontexts");
        let asking = core.records("::goroutines -r select -f main.request");
        assert_eq!(asking.len(), 2, "{}: {asking:?}", core.name);
        for goroutine in asking {
            let waits = |context: &&Value| {
                context["goroutines"].as_array().is_some_and(|all| all.contains(&goroutine["id"]))
            };
            let found: Vec<&Value> = contexts.iter().filter(waits).collect();
            assert_eq!(found.len(), 1, "{}: {contexts:?}", core.name);
            let is_cancelled = ["cancel", "deadline"].map(|kind| found[0]["context"] == kind);
            assert!(is_cancelled.contains(&true), "{}: {found:?}", core.name);
            assert!(found[0]["ended"].is_null(), "{}: {found:?}", core.name);
        }
    }
}
