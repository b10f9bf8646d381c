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
fn who_reads_is_told_to_who_wants_to_write() {
    for core in cases("java-threads").iter().map(Opened::of) {
        let named = |name: &str| core.told.iter().find(|told| told.name == name).expect("told").id;
        let lock = &wanted(&core)[&named("writer")];
        let readers = lock["readers"].as_array().expect("readers").iter();
        let mut readers: Vec<u64> = readers.filter_map(|reader| reader["id"].as_u64()).collect();
        readers.sort_unstable();
        let mut expected = vec![named("main"), named("also reads")];
        expected.sort_unstable();
        assert_eq!(readers, expected, "{}: {lock}", core.name);
        assert_eq!((&lock["owner"], &lock["unknown_readers"]), (&Value::Null, &Value::from(0)));
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

/// Those that have no thread of the system wait for monitors and hold them: since Java 24.
#[test]
fn monitors_of_virtual_threads_are_told() {
    let has_monitors = |core: &Opened| core.told.iter().any(|told| told.name == "wants a monitor");
    let cases = cases("java-virtual");
    let cores = cases.iter().map(Opened::of).filter(has_monitors);
    let mut count = 0;
    for core in cores {
        let wanted = wanted(&core);
        let id = |name: &str| core.told.iter().find(|told| told.name == name).expect("told").id;
        let lock = &wanted[&id("wants a monitor")];
        assert_eq!(lock["class"], "java.lang.Object", "{}: {lock}", core.name);
        assert_eq!(lock["lock"], "monitor", "{}: {lock}", core.name);
        assert_eq!(lock["owner"]["id"], id("holds a monitor"), "{}: {lock}", core.name);
        let waiters = lock["waiters"].as_array().expect("waiters");
        let mut names: Vec<&str> = waiters.iter().filter_map(|it| it["name"].as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["wants a monitor", "wants it too"], "{}: {lock}", core.name);
        let lock = &wanted[&id("is to be notified")];
        let reasons = lock["waiters"].as_array().expect("waiters").iter();
        assert!(
            reasons.clone().all(|waiter| waiter["reason"] == "notify"),
            "{}: {lock}",
            core.name
        );
        assert_eq!((reasons.count(), &lock["owner"]), (2, &Value::Null), "{}: {lock}", core.name);
        assert_eq!(wanted[&id("dead 1")]["owner"]["id"], id("dead 2"), "{}", core.name);
        let deadlocks: Vec<Value> = core.records("::javalocks");
        let deadlocks: Vec<&Value> =
            deadlocks.iter().filter(|record| record["type"] == "java_deadlock").collect();
        assert_eq!(deadlocks.len(), 1, "{}: {deadlocks:?}", core.name);
        assert_eq!(deadlocks[0]["threads"][0]["virtual"], true, "{}: {deadlocks:?}", core.name);
        let task = core.records(&format!("0t{}::stack", id("wants a monitor"))).remove(0);
        let waits_on = task["task"]["waits_on"].as_str().unwrap_or_default();
        assert!(waits_on.starts_with("java.lang.Object "), "{}: {task}", core.name);
        count += 1;
    }
    assert!(count > 0, "no case has monitors");
}
