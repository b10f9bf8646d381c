//! Who awaits whom, in rows, tasks and stacks.

use serde_json::Value;

use crate::{Opened, cases};

fn parent_of(told: &Value) -> Option<&str> {
    told["parent"].as_str().filter(|parent| *parent != "(nil)")
}

#[test]
fn each_is_awaited_by_the_one_that_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        let rows = core.rows();
        for (at, told) in core.told().iter().filter(|(_, told)| told["state"] == "suspended") {
            let row = &rows[at];
            assert_eq!(row["awaited_by"].as_str(), parent_of(told), "{}: {row:#}", core.name);
            assert_eq!(row["is_guess"], false, "{}: {row:#}", core.name);
        }
    }
}

#[test]
fn a_chain_is_a_task_and_a_stack() {
    for core in cases().iter().map(Opened::of) {
        let tasks = core.records("::tasks -r c++20 -c serve");
        let tasks: Vec<&Value> = tasks.iter().filter(|task| task["type"] == "task").collect();
        assert_eq!(tasks.len(), 3, "{}", core.name);
        for stack in core.records("::walk coroutine | ::stack") {
            let frames = stack["frames"].as_array().map(Vec::as_slice).unwrap_or_default();
            let names: Vec<&str> = frames.iter().filter_map(|it| it["function"].as_str()).collect();
            if names.first() == Some(&"leaf") && names.len() > 1 {
                assert!(names[1].starts_with("middle"), "{}: {names:?}", core.name);
                assert_eq!(names[2], "app::Server::serve", "{}: {names:?}", core.name);
                assert_eq!(names.len(), 3, "{}: {names:?}", core.name);
            }
        }
    }
}

#[test]
fn stacks_that_are_alike_are_one_group() {
    for core in cases().iter().map(Opened::of) {
        let groups = core.records("::stacks");
        let text: String = groups.iter().map(ToString::to_string).collect();
        assert!(text.contains("app::Server::serve"), "{}: {text}", core.name);
    }
}
