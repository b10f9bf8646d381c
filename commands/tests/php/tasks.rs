//! Fibers and generators: those that are suspended or never began as tasks with their frames, the fiber that runs as the
//! thread's.

use kcore::{Task, TaskStart};
use std::sync::Arc;

use crate::{FramePlace, Opened, cases, frames, place};

fn tasks(core: &Opened) -> Vec<Arc<Task>> {
    core.core.tasks().all().iter().filter(|task| task.runtime == "php").cloned().collect()
}

#[test]
fn those_that_are_suspended_have_the_frames_that_they_told() {
    for core in cases().iter().map(Opened::of) {
        let mut told: Vec<Vec<FramePlace>> = core
            .told("tasks.jsonl")
            .iter()
            .map(|task| task["frames"].as_array().expect("frames").iter().map(place).collect())
            .collect();
        let suspended = tasks(&core).into_iter().filter(|task| task.state == "suspended");
        let mut shown: Vec<Vec<FramePlace>> = suspended
            .map(|task| {
                let stack = core.records(&format!("{:x}::stack", task.id)).remove(0);
                frames(&stack).into_iter().map(|(place, _)| place).collect()
            })
            .collect();
        told.sort();
        shown.sort();
        assert_eq!(told.len(), if core.has_fibers() { 3 } else { 2 }, "{}", core.name);
        assert_eq!(shown, told, "{}", core.name);
    }
}

#[test]
fn those_that_never_began_say_so() {
    for core in cases().iter().map(Opened::of) {
        let created = tasks(&core).into_iter().filter(|task| task.state == "created").count();
        assert_eq!(created, if core.has_fibers() { 2 } else { 1 }, "{}", core.name);
    }
}

#[test]
fn the_fiber_that_runs_is_the_threads() {
    for core in cases().iter().map(Opened::of) {
        let all = tasks(&core);
        let running: Vec<_> = all.iter().filter(|task| task.thread.is_some()).collect();
        assert_eq!(running.len(), usize::from(core.has_fibers()), "{}: {all:?}", core.name);
        for task in running {
            assert!(matches!(task.start, TaskStart::Running), "{}: {task:?}", core.name);
            assert_eq!(task.thread.map(kcore::Tid::get), core.truth.crashed_tid, "{}", core.name);
        }
    }
}
