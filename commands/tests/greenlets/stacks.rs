//! The stacks of greenlets: frames of Python as the program told them, among native ones that end where the stack does.

use kcore::TaskStart;
use serde_json::Value;

use crate::{Opened, address, cases};

/// A frame of Python: function, file without folders, line.
type FramePlace = (String, Option<String>, Option<u64>);

fn place(frame: &Value) -> FramePlace {
    let file = frame["file"].as_str().and_then(|file| file.rsplit('/').next());
    let function = frame["function"].as_str().unwrap_or("?").to_owned();
    (function, file.map(str::to_owned), frame["line"].as_u64())
}

fn of_kind<'a>(stack: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let frames = stack["frames"].as_array().expect("frames");
    frames.iter().filter(move |frame| frame["kind"] == kind)
}

/// Those that were left, each with its stack.
fn left(core: &Opened) -> Vec<(Value, Value)> {
    let told = core.told("greenlets.jsonl").into_iter();
    let left = told.filter(|told| told["state"] == "suspended");
    let with_stack = |told: Value| {
        let at = address(&told["at"]).expect("an address");
        let stack = core.records(&format!("{at:x}::stack")).remove(0);
        (told, stack)
    };
    left.map(with_stack).collect()
}

#[test]
fn their_frames_of_python_are_those_that_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        for (told, stack) in left(&core) {
            let shown: Vec<FramePlace> = of_kind(&stack, "python").map(place).collect();
            let frames = told["frames"].as_array().expect("frames");
            let told: Vec<FramePlace> = frames.iter().map(place).collect();
            assert_eq!(shown, told, "{}: {stack:#}", core.name);
            let doubts = of_kind(&stack, "python").filter(|frame| !frame["doubt"].is_null());
            assert_eq!(doubts.count(), 0, "{}: {stack:#}", core.name);
        }
    }
}

#[test]
fn their_native_frames_end_where_the_greenlet_began() {
    for core in cases().iter().map(Opened::of) {
        for (told, stack) in left(&core) {
            assert_eq!(stack["end"]["reason"], "outermost", "{}: {stack:#}", core.name);
            let functions: Vec<&str> =
                of_kind(&stack, "native").filter_map(|frame| frame["function"].as_str()).collect();
            assert_eq!(functions.first(), Some(&"slp_switch"), "{}: {stack:#}", core.name);
            // Debian's libc has no name for what begins a thread.
            let last = of_kind(&stack, "native").last().and_then(|it| it["function"].as_str());
            let last = last.unwrap_or_default();
            match told["main"] == true {
                true => assert!(
                    ["_start", "clone", "clone3", "__clone", "__clone3", ""].contains(&last),
                    "{}: {stack:#}",
                    core.name
                ),
                false => assert!(last.ends_with("g_initialstub"), "{}: {stack:#}", core.name),
            }
            let guesses = of_kind(&stack, "native").filter(|frame| frame["guess"] == true);
            assert_eq!(guesses.count(), 0, "{}: {stack:#}", core.name);
        }
    }
}

#[test]
fn frames_of_python_stand_between_the_native_ones_that_run_them() {
    for core in cases().iter().map(Opened::of) {
        for (told, stack) in left(&core) {
            let frames = stack["frames"].as_array().expect("frames");
            let is = |frame: &Value, function: &str| frame["function"] == function;
            // The switch comes first, then what called it.
            assert!(frames[0]["kind"] == "native", "{}: {told} {stack:#}", core.name);
            let Some(recursive) = frames.iter().position(|frame| is(frame, "through_c")) else {
                continue;
            };
            let inner = &frames[..recursive];
            let native = inner.iter().any(|frame| {
                frame["kind"] == "native"
                    && frame["function"].as_str().is_some_and(|it| it.contains("map_next"))
            });
            let names_are_there = inner.iter().filter(|it| it["kind"] == "native").count() > 4;
            assert!(
                native || !names_are_there || core.name.contains("debian"),
                "{}: {stack:#}",
                core.name
            );
        }
    }
}

#[test]
fn the_stack_of_a_thread_that_runs_one_ends_where_that_began() {
    for core in cases().iter().map(Opened::of) {
        let running: Vec<_> = core
            .core
            .tasks()
            .all()
            .iter()
            .filter(|task| task.runtime == "greenlet" && matches!(task.start, TaskStart::Running))
            .collect();
        assert_eq!(running.len(), 2, "{}", core.name);
        for task in running {
            let tid = task.thread.expect("a thread");
            let stacks = core.records("::walk thread | ::stack").into_iter();
            let is_its = |it: &Value| it["type"] == "stack" && it["tid"] == tid.get();
            let stack = { stacks }.find(is_its).expect("a stack");
            let last = of_kind(&stack, "native").last().expect("native frames");
            let function = last["function"].as_str().unwrap_or_default();
            assert!(function.ends_with("g_initialstub"), "{}: {stack:#}", core.name);
            let first = of_kind(&stack, "python").last().map(place).expect("a frame of Python");
            let name = first.0.rsplit('.').next().unwrap_or_default().to_owned();
            assert!(["ending", "run"].contains(&name.as_str()), "{}: {stack:#}", core.name);
        }
    }
}

#[test]
fn alike_ones_are_grouped() {
    for core in cases().iter().map(Opened::of) {
        let groups = core.records("::stacks");
        let grouped: usize =
            groups.iter().filter_map(|group| group["tasks"].as_array()).map(Vec::len).sum();
        let running = core.records("::greenlets -s running").len();
        assert_eq!(grouped, core.records("::greenlets").len() - running, "{}", core.name);
        let most = groups.iter().filter_map(|group| group["tasks"].as_array()).map(Vec::len).max();
        assert!(most >= Some(2), "{}: {most:?}", core.name);
    }
}
