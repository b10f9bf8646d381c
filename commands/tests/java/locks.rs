//! Who waits for whom, held against what `ThreadMXBean` says.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Opened, cases, trace::Told};

/// The lock that each thread waits for, by the thread's number.
fn wanted(core: &Opened) -> BTreeMap<u64, Value> {
    let records = core.records("::javalocks");
    let locks = records.into_iter().filter(|record| record["type"] == "java_lock");
    let mut wanted = BTreeMap::new();
    for lock in locks {
        for waiter in lock["waiters"].as_array().expect("waiters") {
            wanted.insert(waiter["id"].as_u64().expect("an id"), lock.clone());
        }
    }
    wanted
}

#[test]
fn locks_are_those_that_java_tells() {
    for core in cases("java-threads").iter().map(Opened::of) {
        let wanted = wanted(&core);
        let named = |name: &str| core.told.iter().find(|told| told.name == name).expect("told");
        for name in ["waiter", "timed waiter", "blocked", "parked", "locker", "reader of a lock"] {
            let told: &Told = named(name);
            let lock = wanted.get(&told.id);
            let lock = lock.unwrap_or_else(|| panic!("{}: {told:?} waits", core.name));
            assert_eq!(lock["class"], told.waits_for.as_str(), "{}: {lock}", core.name);
            assert_eq!(lock["owner"]["id"].as_u64(), told.owner, "{}: {told:?} {lock}", core.name);
        }
        let main = named("main").id;
        for name in ["blocked", "locker", "reader of a lock"] {
            assert_eq!(wanted[&named(name).id]["owner"]["id"], main, "{} {name}", core.name);
        }
        for free in ["sleeper", "spinner", "input"] {
            assert!(!wanted.contains_key(&named(free).id), "{}: {free}", core.name);
        }
    }
}

#[test]
fn threads_that_wait_for_each_other_are_a_deadlock() {
    for core in cases("java-threads").iter().map(Opened::of) {
        let records = core.records("::javalocks");
        let found: Vec<&Value> =
            records.iter().filter(|record| record["type"] == "java_deadlock").collect();
        assert_eq!(found.len(), 1, "{}: {found:?}", core.name);
        let threads = found[0]["threads"].as_array().expect("threads");
        let mut names: Vec<&str> =
            threads.iter().filter_map(|thread| thread["name"].as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["dead 1", "dead 2"], "{}", core.name);
    }
}
