//! Which coroutines there are, what each is doing, and in which line.

use std::collections::BTreeSet;

use crate::{Opened, cases};

/// How addresses of stacks begin.
const STACKS: &str = "0x7ff";

#[test]
fn all_that_were_not_destroyed_are_listed_and_no_others() {
    for core in cases().iter().map(Opened::of) {
        // clang keeps some frames in that of their caller, where those that were destroyed leave their words.
        let is_own = |at: &String| !at.starts_with(STACKS);
        let told: BTreeSet<String> = core.told().into_keys().filter(is_own).collect();
        let rows = core.rows();
        let listed: BTreeSet<String> = rows.keys().filter(|at| is_own(at)).cloned().collect();
        assert!(told.len() > 10, "{}", core.name);
        assert_eq!(listed, told, "{}", core.name);
        let on_stacks = rows.iter().filter(|(at, _)| !is_own(at));
        for (_, row) in on_stacks {
            assert!(!row["doubt"].is_null(), "{}: {row:#}", core.name);
        }
    }
}

#[test]
fn each_has_the_state_and_the_function_that_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        let rows = core.rows();
        for (at, told) in core.told() {
            let Some(row) = rows.get(&at) else { continue };
            let state = told["state"].as_str().expect("a state");
            assert_eq!(row["state"], state, "{}: {row:#}", core.name);
            let function = row["function"].as_str().expect("a name");
            let name = function.rsplit("::").next().and_then(|name| name.split('<').next());
            assert_eq!(name, told["function"].as_str(), "{}: {row:#}", core.name);
            assert_eq!(row["thread"].is_null(), state != "running", "{}: {row:#}", core.name);
        }
    }
}

#[test]
fn each_waits_in_the_line_that_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        let rows = core.rows();
        for (at, told) in core.told().into_iter().filter(|(_, told)| told["state"] == "suspended") {
            let row = &rows[&at];
            let behind =
                row["doubt"].as_str().is_some_and(|doubt| doubt.contains("next statement"));
            match behind {
                true => assert!(row["line"].as_u64() >= told["line"].as_u64(), "{row:#}"),
                false => assert_eq!(row["line"], told["line"], "{}: {row:#}", core.name),
            }
        }
    }
}

#[test]
fn types_are_those_of_the_program() {
    for core in cases().iter().map(Opened::of) {
        let rows = core.rows();
        for (at, told) in core.told() {
            let Some(row) = rows.get(&at) else { continue };
            let owner = if told["function"] == "detached" { "Detached" } else { "Task" };
            assert_eq!(row["promise_type"], format!("{owner}::promise_type"), "{}", core.name);
            let is_leaf = told["function"] == "leaf" && told["state"] == "suspended";
            if is_leaf {
                assert_eq!(row["awaits"], "Event", "{}: {row:#}", core.name);
            }
        }
    }
}

#[test]
fn those_that_are_alike_are_counted() {
    for core in cases().iter().map(Opened::of) {
        let groups = core.records("::coroutines -u");
        let groups = groups.iter().filter(|group| group["type"] == "coroutine_group");
        let count: u64 = groups.filter_map(|group| group["count"].as_u64()).sum();
        assert_eq!(count, core.rows().len() as u64, "{}", core.name);
        let serving = core.records("::coroutines -c serve");
        let serving = serving.iter().filter(|row| row["type"] == "coroutine").count();
        assert_eq!(serving, 3, "{}", core.name);
    }
}
