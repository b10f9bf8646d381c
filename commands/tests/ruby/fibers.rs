//! Fibers: those that are suspended, never began, or resumed another, as tasks with their stacks.

use std::sync::Arc;

use kcore::{Core, Task, TaskStart, ruby::Ruby};
use serde_json::Value;

use crate::{FramePlace, Opened, cases, frames};

fn tasks(core: &Core) -> Vec<Arc<Task>> {
    core.tasks().all().iter().filter(|task| task.runtime == "ruby").cloned().collect()
}

fn told_frames(told: &Value) -> Option<Vec<FramePlace>> {
    let place = |frame: &Value| {
        let text = |name: &str| frame[name].as_str().unwrap_or_default().to_owned();
        (text("function"), text("file"), frame["line"].as_u64().unwrap_or_default())
    };
    Some(told["frames"].as_array()?.iter().map(place).collect())
}

/// The task of the fiber whose object lies at an address.
fn task_of(core: &Opened, object: u64) -> Arc<Task> {
    let runtimes = core.core.runtimes();
    let ruby = runtimes.of::<Ruby>().next().expect("Ruby");
    let fibers = ruby.fibers(&*core.core);
    let fiber = fibers.all.iter().find(|fiber| fiber.object.is_some_and(|at| at.get() == object));
    let fiber = fiber.unwrap_or_else(|| panic!("{}: {object:x} of {fibers:#?}", core.name));
    let all = tasks(&core.core);
    all.into_iter().find(|task| task.id == fiber.at.get()).expect("its task")
}

#[test]
fn fibers_are_tasks_in_the_states_and_with_the_frames_that_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        let told = core.told("fibers.jsonl");
        assert_eq!(told.len(), 3, "{}", core.name);
        for fiber in &told {
            let text = fiber["object"].as_str().expect("an address").trim_start_matches("0x");
            let task = task_of(&core, u64::from_str_radix(text, 16).expect("an address"));
            assert_eq!(task.state, fiber["state"].as_str().expect("a state"), "{}", core.name);
            if fiber["state"] == "created" {
                assert!(matches!(task.start, TaskStart::Unknown(_)), "{}: {task:?}", core.name);
                continue;
            }
            let stack = core.records(&format!("{:x}::stack", task.id)).remove(0);
            let shown: Vec<FramePlace> =
                frames(&stack).into_iter().map(|(place, _)| place).collect();
            assert!(shown.len() >= 6, "{}: {stack:#}", core.name);
            if let Some(told) = told_frames(fiber) {
                assert_eq!(shown, told, "{}: {stack:#}", core.name);
            }
        }
    }
}

#[test]
fn a_fiber_that_resumed_another_says_so_and_the_other_is_its_threads() {
    for core in cases().iter().map(Opened::of) {
        let thread =
            core.truth.threads.iter().find(|thread| thread.role == "in_fiber").expect("it");
        let all = tasks(&core.core);
        let own = all.iter().find(|task| task.thread.is_some_and(|tid| tid.get() == thread.tid));
        let own = own.unwrap_or_else(|| panic!("{}: {all:?}", core.name));
        assert_eq!(own.state, "running", "{}", core.name);
        if core.name.contains("2.7") {
            // That has no word for whom it resumed.
            continue;
        }
        let waiting = format!("fiber {:x}", own.id);
        let resumed = all.iter().find(|task| task.waits_on.as_deref() == Some(&waiting));
        let resumed = resumed.unwrap_or_else(|| panic!("{}: {all:?}", core.name));
        assert_eq!(resumed.state, "resuming", "{}", core.name);
        let stack = core.records(&format!("{:x}::stack", resumed.id)).remove(0);
        let functions: Vec<String> =
            frames(&stack).into_iter().map(|((function, ..), _)| function).collect();
        let told = ["Fiber#resume", "Object#in_fiber", "block in Object#start"];
        assert_eq!(functions[..3.min(functions.len())], told[..3], "{}: {stack:#}", core.name);
    }
}
