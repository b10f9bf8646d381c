//! Who awaits whom, in rows, tasks and stacks.

use std::collections::HashMap;

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

#[test]
fn the_address_of_a_frame_has_the_chain_from_there_outwards() {
    for core in cases().iter().map(Opened::of) {
        let rows = core.rows();
        for (at, row) in rows.iter().filter(|(_, row)| row["thread"].is_null()) {
            let stacks = core.records(&format!("{at}::stack"));
            let stack = stacks.iter().find(|it| it["type"] == "stack").expect("a stack");
            let frames = stack["frames"].as_array().expect("frames");
            assert_eq!(frames.len(), chain_length(&rows, row), "{}: {stack:#}", core.name);
            assert_eq!(frames[0]["function"], row["function"], "{}: {stack:#}", core.name);
            assert!(
                frames.iter().all(|frame| frame["kind"] == "async"),
                "{}: {stack:#}",
                core.name
            );
        }
    }
}

/// Coroutines from one to the outermost that awaits it.
fn chain_length(rows: &HashMap<String, Value>, row: &Value) -> usize {
    let outer = |row: &&Value| row["awaited_by"].as_str().and_then(|at| rows.get(at));
    std::iter::successors(Some(row), outer).count()
}

#[test]
fn a_frame_is_printed_without_its_type() {
    for core in cases().iter().map(Opened::of) {
        let rows = core.rows();
        for (at, row) in rows.iter().filter(|(_, row)| !row["frame_type"].is_null()) {
            let printed = core.records(&format!("{at}::print"));
            let text: String = printed.iter().map(ToString::to_string).collect();
            let number = ["_Coro_resume_index", "__coro_index"];
            assert!(number.iter().any(|it| text.contains(it)), "{}: {row:#}: {text}", core.name);
        }
    }
}

#[test]
fn the_type_of_each_frame_of_gcc_is_known_by_its_name() {
    for core in cases().iter().map(Opened::of) {
        let rows = core.rows();
        let typed = rows.iter().filter_map(|(at, row)| Some((at, row["frame_type"].as_str()?)));
        for (at, ty) in typed.filter(|(_, ty)| ty.ends_with(".Frame")) {
            let printed = core.records(&format!("{at}::print {ty}"));
            let text: String = printed.iter().map(ToString::to_string).collect();
            assert!(text.contains("_Coro_resume_index"), "{}: {ty}: {text}", core.name);
        }
    }
}
