//! Virtual threads: those that wait in the heap, with their stacks, and those that a thread runs.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Opened, cases, java_frames};

/// The stacks of tasks, by the numbers of their virtual threads.
fn stacks(core: &Opened) -> BTreeMap<u64, Value> {
    let ids = core.told.iter().map(|told| told.id);
    ids.map(|id| (id, core.records(&format!("0t{id}::stack")).remove(0))).collect()
}

/// What Java leaves out of the traces of virtual threads.
fn is_inner(function: &str) -> bool {
    function.starts_with("jdk.internal.vm.Continuation")
        || function.starts_with("java.lang.VirtualThread$VThreadContinuation")
        || matches!(
            function,
            "java.lang.VirtualThread.yieldContinuation" | "java.lang.Thread.runWith"
        )
}

#[test]
fn virtual_threads_that_wait_have_the_stacks_that_java_tells() {
    for core in cases("java-virtual").iter().map(Opened::of) {
        let stacks = stacks(&core);
        assert!(core.told.len() > 100, "{}", core.name);
        for told in core.told.iter().filter(|told| told.state != "RUNNABLE") {
            let stack = &stacks[&told.id];
            assert_eq!(stack["name"], told.name.as_str(), "{}: {stack}", core.name);
            let frames = java_frames(stack).into_iter();
            let shown: Vec<_> = { frames }
                .filter(|frame| !is_inner(&frame.function))
                .map(|frame| (frame.function, frame.place))
                .collect();
            assert_eq!(shown, told.frames, "{} {}: {stack}", core.name, told.name);
        }
    }
}

#[test]
fn one_that_runs_is_linked_to_its_carrier() {
    for core in cases("java-virtual").iter().map(Opened::of) {
        let told = core.told.iter().find(|told| told.name == "runs").expect("told");
        let stack = core.records(&format!("0t{}::stack", told.id)).remove(0);
        let tid = stack["tid"].as_u64().unwrap_or_else(|| panic!("{}: {stack}", core.name));
        let carrier = core.listed().into_iter().find(|record| record["thread"] == tid);
        let name = carrier.expect("a carrier")["name"].as_str().expect("a name").to_owned();
        assert!(name.starts_with("ForkJoinPool-1-worker-"), "{}: {name}", core.name);
        let frames = java_frames(&stack);
        assert!(frames.iter().any(|it| it.function == "Virtual.spin"), "{}: {stack}", core.name);
        // Beyond is what its carrier does for itself, which the stack of that has.
        let entry = "jdk.internal.vm.Continuation.enterSpecial";
        let last = stack["frames"].as_array().and_then(|frames| frames.last()).expect("frames");
        assert_eq!(last["function"], entry, "{}: {stack}", core.name);
        let own = core.records(&format!("0t{tid}::stack")).remove(0);
        let beyond = java_frames(&own).into_iter().skip_while(|frame| frame.function != entry);
        assert!(beyond.count() > 2, "{}: {own}", core.name);
    }
}

#[test]
fn those_that_do_the_same_are_grouped() {
    for core in cases("java-virtual").iter().map(Opened::of) {
        let groups = core.records("::stacks");
        let most = groups.iter().filter_map(|group| group["tasks"].as_array()).map(Vec::len).max();
        // As many as do the same, each once; code that was compiled meanwhile tells some from others.
        assert!(most.is_some_and(|most| (80..=100).contains(&most)), "{}: {most:?}", core.name);
    }
}

#[test]
fn names_of_virtual_threads_do_not_keep_groups_apart() {
    for core in cases("java-virtual").iter().map(Opened::of) {
        let groups = core.records("::tasks -u");
        let counts = groups.iter().filter(|group| group["state"] == "parked");
        let most = counts.filter_map(|group| group["count"].as_u64()).max();
        assert!(most >= Some(100), "{}: {most:?}", core.name);
    }
}
