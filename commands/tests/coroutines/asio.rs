//! Coroutines of Asio, which keep their callers in promises of the library.

use serde_json::Value;

use crate::{Opened, cases_of};

fn names(stack: &Value) -> Vec<(String, u64)> {
    let frames = stack["frames"].as_array().map(Vec::as_slice).unwrap_or_default();
    let name = |frame: &Value| {
        let line = frame["line"].as_u64().unwrap_or_default();
        Some((frame["function"].as_str()?.to_owned(), line))
    };
    frames.iter().filter_map(name).collect()
}

#[test]
fn chains_of_awaitables_are_those_of_the_program() {
    for core in cases_of("asio-coroutines").iter().map(Opened::of) {
        let stacks: Vec<_> = core.records("::walk coroutine | ::stack").iter().map(names).collect();
        let with = |name: &str| -> Vec<&Vec<(String, u64)>> {
            stacks.iter().filter(|it| it.iter().any(|(function, _)| function == name)).collect()
        };
        let told = core.lines();
        let line = |name: &str| {
            let found = told.iter().find(|told| told["function"] == name);
            found.and_then(|told| told["line"].as_u64()).expect("a line")
        };
        let sessions = with("session");
        assert_eq!(sessions.len(), 3, "{}: {stacks:#?}", core.name);
        for stack in sessions {
            let own = |(function, _): &&(String, u64)| {
                ["sleeps", "works", "session"].contains(&function.as_str())
            };
            let own: Vec<_> = stack.iter().filter(own).cloned().collect();
            let wanted = ["sleeps", "works", "session"].map(|name| (name.to_owned(), line(name)));
            assert_eq!(own, wanted, "{}: {stack:#?}", core.name);
            let (root, _) = stack.last().expect("a frame");
            assert!(root.starts_with("asio::detail::co_spawn_entry_point"), "{}", core.name);
        }
        assert_eq!(with("listens").len(), 1, "{}: {stacks:#?}", core.name);
    }
}
