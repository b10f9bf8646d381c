//! A stack that leads through machine code of a trace.

use gen_cores::Call;
use serde_json::Value;

use crate::{FramePlace, Opened, cases, frames};

fn stack(core: &Opened) -> Value {
    let tid = core.truth.crashed_tid.expect("a thread");
    core.records(&format!("0t{tid}::stack")).remove(0)
}

#[test]
fn the_frames_around_a_trace_are_what_the_traceback_of_the_program_told() {
    for core in cases("luajit-trace").iter().map(Opened::of) {
        let stack = stack(&core);
        let shown = frames(&stack);
        let place = |call: &Call| {
            let function = call.function.clone().unwrap_or_default();
            (function, call.file.clone(), call.line.map(u64::from))
        };
        let told: Vec<FramePlace> = core.truth.threads[0].calls().map(place).collect();
        let places: Vec<FramePlace> = shown.iter().map(|(place, _)| place.clone()).collect();
        assert_eq!(places[1..], told[1..], "{}: {stack:#}", core.name);
        assert_eq!(places[0].0, told[0].0, "{}: {stack:#}", core.name);
        assert_eq!(stack["end"]["reason"], "outermost", "{}: {stack:#}", core.name);
    }
}

#[test]
fn what_runs_in_a_trace_says_so() {
    for core in cases("luajit-trace").iter().map(Opened::of) {
        let stack = stack(&core);
        let notes = stack["notes"].to_string();
        assert!(notes.contains("machine code of trace"), "{}: {stack:#}", core.name);
        let all = stack["frames"].as_array().expect("frames");
        let first = all.iter().find(|frame| frame["kind"] == "lua").expect("a frame");
        assert_eq!(first["tier"], "JIT trace", "{}: {stack:#}", core.name);
        // The C library's own function is what the machine code called.
        assert!(all.iter().any(|frame| frame["function"] == "read"), "{}: {stack:#}", core.name);
    }
}

#[test]
fn variables_of_a_trace_are_not_told_as_they_were_before() {
    for core in cases("luajit-trace").iter().map(Opened::of) {
        let tid = core.truth.crashed_tid.expect("a thread");
        let stack = core.records(&format!("0t{tid}::stack -v")).remove(0);
        let all = stack["frames"].as_array().expect("frames");
        let mut own = all.iter().filter(|frame| frame["kind"] == "lua");
        let names = |frame: &Value, key: &str| -> Vec<String> {
            let list = frame[key].as_array().map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(|it| it["name"].as_str().map(str::to_owned)).collect()
        };
        // What the function has from around it lies in memory.
        let traced = own.next().expect("a frame");
        assert!(names(traced, "args").is_empty(), "{}: {traced:#}", core.name);
        let told = names(traced, "locals");
        assert!(told.iter().any(|it| it == "files"), "{}: {traced:#}", core.name);
        assert!(!told.iter().any(|it| it == "total"), "{}: {traced:#}", core.name);
        let notes = stack["notes"].to_string();
        assert!(notes.contains("variables are not known"), "{}: {notes}", core.name);
        let outside = own.next().expect("a frame");
        assert_eq!(names(outside, "args"), ["depth"], "{}: {outside:#}", core.name);
    }
}
