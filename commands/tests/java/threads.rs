//! What is known of threads beside their stacks.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Opened, cases, trace::Told};

/// All threads that were told, with their records.
pub fn check(core: &Opened) {
    let listed = core.listed();
    let by_id: BTreeMap<u64, &Value> =
        listed.iter().map(|record| (record["id"].as_u64().expect("an id"), record)).collect();
    assert!(core.told.len() >= 18, "{}: {}", core.name, core.told.len());
    for told in &core.told {
        let record = by_id.get(&told.id).unwrap_or_else(|| panic!("{} has {told:?}", core.name));
        assert_eq!(record["name"], told.name.as_str(), "{}: {record}", core.name);
        assert_eq!(record["daemon"], told.daemon, "{}: {record}", core.name);
        assert_eq!(record["priority"], told.priority, "{}: {record}", core.name);
        let state = record["state"].as_str().expect("a state");
        match told.name.as_str() {
            // It told, and slept then.
            "main" => assert_eq!(state, "TIMED_WAITING", "{}: {record}", core.name),
            _ if is_steady(told) => assert_eq!(state, told.state, "{}: {record}", core.name),
            // It waits for a minute, wakes, takes its lock again, and waits again.
            _ => assert!(
                ["TIMED_WAITING", "BLOCKED", "RUNNABLE"].contains(&state),
                "{}: {record}",
                core.name
            ),
        }
        assert!(record["thread"].as_u64().is_some(), "{}: {record}", core.name);
    }
}

/// Whether a thread is as it was when it told: one of Java's own wakes up each minute.
fn is_steady(told: &Told) -> bool {
    told.name != "Common-Cleaner"
}

#[test]
fn threads_are_as_java_tells_them() {
    cases("java-threads").iter().map(Opened::of).for_each(|core| check(&core));
}

#[test]
fn filters_tell_of_the_same_threads() {
    for core in cases("java-threads").iter().map(Opened::of) {
        let ids = |line: &str| -> Vec<u64> {
            let records = core.records(line);
            let steady = records.iter().filter(|record| record["name"] != "Common-Cleaner");
            let mut ids: Vec<u64> = steady.filter_map(|record| record["id"].as_u64()).collect();
            ids.sort_unstable();
            ids
        };
        let told = |is_it: &dyn Fn(&&Told) -> bool| -> Vec<u64> {
            let steady = core.told.iter().filter(|told| is_steady(told));
            let mut ids: Vec<u64> = steady.filter(is_it).map(|told| told.id).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(ids("::javathreads -s BLOCKED"), told(&|told| told.state == "BLOCKED"));
        assert_eq!(ids("::javathreads -n waiter"), told(&|told| told.name.contains("waiter")));
    }
}

#[test]
fn threads_of_the_system_have_their_names() {
    for core in cases("java-threads").iter().map(Opened::of) {
        let listed = core.listed();
        let sleeper = listed.iter().find(|record| record["name"] == "sleeper").expect("listed");
        let tid = sleeper["thread"].as_u64().expect("a thread");
        let stack = core.records(&format!("0t{tid}::stack")).remove(0);
        assert_eq!(stack["name"], "sleeper", "{}: {stack}", core.name);
    }
}
