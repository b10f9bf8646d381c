//! States, reasons and stacks of all goroutines.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Opened, cases, frames, number, trace::is_shown};

/// Those whose state does not change between what was told and the core.
fn parked(core: &Opened) -> BTreeMap<u64, &crate::trace::Told> {
    let moves = |told: &&crate::trace::Told| {
        told.id == 1 || matches!(told.state.as_str(), "running" | "runnable" | "preempted")
    };
    core.told.iter().filter(|told| !moves(told)).map(|told| (told.id, told)).collect()
}

/// All goroutines of a process.
pub fn check(core: &Opened) {
    let told = parked(core);
    assert!(told.len() >= 22, "{}: {}", core.name, told.len());
    let listed = core.records("::goroutines");
    let listed: BTreeMap<u64, &Value> =
        listed.iter().map(|record| (record["id"].as_u64().expect("an id"), record)).collect();
    let stacks = core.records("::walk goroutine | ::stack");
    let stacks: BTreeMap<u64, &Value> =
        stacks.iter().filter_map(|record| Some((number(record)?, record))).collect();
    for (id, told) in &told {
        let record = listed.get(id).unwrap_or_else(|| panic!("{} has {id}", core.name));
        assert_eq!(record["reason"], told.state.as_str(), "{} {id}: {record}", core.name);
        assert_eq!(record["state"], "waiting", "{} {id}: {record}", core.name);
        let stack = stacks.get(id).unwrap_or_else(|| panic!("{} has a stack of {id}", core.name));
        let shown: Vec<_> =
            frames(stack).into_iter().filter(|(function, _)| is_shown(function)).collect();
        assert_eq!(shown, told.frames, "{} {id}: {stack}", core.name);
        assert_eq!(stack["end"]["reason"], "outermost", "{} {id}: {stack}", core.name);
    }
    for id in told.keys().take(2) {
        let by_id = core.records(&format!("0t{id}::stack")).remove(0);
        assert_eq!(Some(&&by_id), stacks.get(id), "{} {id}", core.name);
    }
    for (id, record) in &listed {
        let entry = record["entry_function"].as_str().unwrap_or_default();
        let is_known = core.told.iter().any(|told| told.id == *id);
        assert!(is_known || entry.starts_with("runtime."), "{}: {record}", core.name);
    }
}

#[test]
fn goroutines_are_as_go_prints_them() {
    cases("goroutines").iter().map(Opened::of).for_each(|core| check(&core));
}

#[test]
fn the_running_ones_are_linked_to_their_threads() {
    for core in cases("goroutines").iter().map(Opened::of) {
        let main = core.records("1::goroutine").remove(0);
        let spins = core.records("::goroutines -f main.spin").remove(0);
        for record in [main, spins] {
            let Some(thread) = record["thread"].as_u64() else {
                assert_ne!(record["state"], "running", "{}: {record}", core.name);
                continue;
            };
            let stack = core.records(&format!("0t{thread}::stack")).remove(0);
            assert_eq!(number(&stack), record["id"].as_u64(), "{}: {stack}", core.name);
        }
    }
}

#[test]
fn filters_and_groups_tell_of_the_same_goroutines() {
    for core in cases("goroutines").iter().map(Opened::of) {
        let ids = |line: &str| -> Vec<u64> {
            core.records(line).iter().filter_map(|record| record["id"].as_u64()).collect()
        };
        let told = |state: &str| -> Vec<u64> {
            core.told.iter().filter(|told| told.state == state).map(|told| told.id).collect()
        };
        let sorted = |mut ids: Vec<u64>| {
            ids.sort_unstable();
            ids
        };
        assert_eq!(sorted(ids("::goroutines -r nil")), {
            let both = ["chan receive (nil chan)", "chan send (nil chan)"];
            sorted(both.iter().flat_map(|state| told(state)).collect())
        });
        let deep = ids("::goroutines -s waiting -f main.deep");
        assert_eq!(deep.len(), 1, "{}: {deep:?}", core.name);
        let groups = core.records("::goroutines -u");
        let grouped = groups.iter().filter_map(|group| group["ids"].as_array()).flatten();
        let grouped = grouped.filter_map(Value::as_u64).collect();
        assert_eq!(sorted(grouped), sorted(ids("::goroutines")), "{}", core.name);
    }
}
