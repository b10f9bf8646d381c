//! Processes that run: in machine code that the JIT made, and in C.

use serde_json::Value;

use crate::{Opened, cases, frames, text};

/// The stack of the thread that runs the process of a name.
fn thread_stack(opened: &Opened, name: &str) -> (Value, Value) {
    let row = opened.named(name);
    let thread = row["thread"].as_u64().unwrap_or_else(|| panic!("{}: {row}", opened.name));
    let stacks = opened.of_type(&format!("0t{thread}::stack"), "stack");
    (row, stacks[0].clone())
}

#[test]
fn a_loop_runs_on_a_scheduler() {
    for opened in cases().iter().map(Opened::of) {
        let (row, stack) = thread_stack(&opened, "busy");
        assert_eq!(row["state"], "running", "{}", opened.name);
        assert_eq!(row["current"], "main:busy/1", "{}", opened.name);
        let frames = frames(&stack);
        assert_eq!(frames.first().map(|frame| &*frame.0), Some("main:busy/1"), "{stack}");
        assert_eq!(frames.len(), 1, "{}: {stack}", opened.name);
    }
}

#[test]
fn a_call_of_c_has_the_functions_that_called_it() {
    for opened in cases().iter().map(Opened::of) {
        let (row, stack) = thread_stack(&opened, "fifo");
        assert_eq!(row["state"], "running", "{}", opened.name);
        let names: Vec<String> = frames(&stack).into_iter().map(|frame| frame.0).collect();
        assert_eq!(names.first().map(String::as_str), Some("prim_file:open_nif/2"), "{stack}");
        assert_eq!(names.last().map(String::as_str), Some("main:fifo/1"), "{stack}");
        let all = stack["frames"].as_array().expect("frames");
        let is_native = |frame: &&Value| frame["kind"] == "native";
        let native: Vec<String> =
            all.iter().filter(is_native).map(|frame| text(&frame["function"])).collect();
        let place = |name: &str| native.iter().position(|own| own.contains(name));
        assert!(place("open") < place("erts_dirty_process_main"), "{native:?}");
    }
}

#[test]
fn schedulers_say_what_they_run() {
    for opened in cases().iter().map(Opened::of) {
        let rows = opened.of_type("::erlschedulers", "erlang_scheduler");
        let count = |kind: &str| rows.iter().filter(|row| row["scheduler_kind"] == kind).count();
        assert_eq!((count("scheduler"), count("dirty_cpu"), count("dirty_io")), (2, 1, 2));
        assert!(rows.iter().all(|row| row["thread"].is_u64()), "{}: {rows:?}", opened.name);
        let (busy, fifo) = (opened.named("busy"), opened.named("fifo"));
        let runs = |process: &Value, kind: &str| {
            rows.iter().any(|row| row["pid"] == process["pid"] && row["scheduler_kind"] == kind)
        };
        assert!(runs(&busy, "scheduler") && runs(&fifo, "dirty_io"), "{}", opened.name);
    }
}
