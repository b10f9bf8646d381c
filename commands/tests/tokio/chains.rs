//! The chains of futures: the program's own functions with their lines.

use serde_json::Value;

use crate::{Opened, cases};

/// A function and its line.
type AwaitPlace = (String, Option<u64>);

/// The program's own functions in a stack.
fn own(stack: &Value) -> Vec<AwaitPlace> {
    let frames = stack["frames"].as_array().expect("frames").iter();
    let own = frames.filter(|frame| {
        let function = frame["function"].as_str().unwrap_or_default();
        function.starts_with("tokio_tasks::") && !frame["line"].is_null()
    });
    own.map(|frame| (frame["function"].as_str().unwrap().to_owned(), frame["line"].as_u64()))
        .collect()
}

fn stack(core: &Opened, told: &Value) -> Value {
    let id = told["id"].as_u64().expect("a number");
    core.records(&format!("{id:x}::stack")).remove(0)
}

#[test]
fn functions_and_lines_are_those_that_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        let told = core.told().into_iter().filter(|told| told["state"] == "suspended");
        for told in told.filter(|told| told["waits"] != "any" && told["waits"] != "all") {
            let stack = stack(&core, &told);
            let frames = told["frames"].as_array().expect("frames").iter();
            let told: Vec<AwaitPlace> = frames
                .map(|frame| {
                    (frame["function"].as_str().unwrap().to_owned(), frame["line"].as_u64())
                })
                .collect();
            assert_eq!(own(&stack), told, "{}: {stack:#}", core.name);
            assert_eq!(stack["end"]["reason"], "outermost", "{stack:#}");
        }
    }
}

#[test]
fn each_branch_of_a_join_and_a_select_is_there() {
    for core in cases().iter().map(Opened::of) {
        for (kind, functions) in [
            ("all", vec!["sleeps", "middle", "sleeps", "both"]),
            ("any", vec!["sleeps", "middle", "either"]),
        ] {
            let told = core.told().into_iter().find(|told| told["waits"] == kind).expect("one");
            let stack = stack(&core, &told);
            // The line at which a macro of tokio waits is one of the macro, and is not shown.
            let frames = stack["frames"].as_array().expect("frames").iter();
            let shown = frames.filter_map(|frame| frame["function"].as_str());
            let shown: Vec<String> =
                shown.filter(|it| it.starts_with("tokio_tasks::")).map(str::to_owned).collect();
            let told: Vec<String> =
                functions.iter().map(|it| format!("tokio_tasks::{it}")).collect();
            assert_eq!(shown, told, "{}: {stack:#}", core.name);
            let text = stack.to_string();
            assert!(text.contains(&format!("{{{kind}: branch 2 of 2}}")), "{text}");
        }
    }
}

#[test]
fn tasks_are_grouped_with_threads() {
    for core in cases().iter().map(Opened::of) {
        let groups = core.records("::stacks");
        let with = |function: &str| {
            let text = format!("tokio_tasks::{function}\"");
            groups.iter().filter(|group| group.to_string().contains(&text)).count()
        };
        assert!(with("locks") == 1 && with("accepts") == 1, "{groups:#?}");
    }
}
