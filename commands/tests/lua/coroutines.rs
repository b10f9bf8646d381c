//! Coroutines: those that are suspended, failed or never began as tasks with their frames, those that run as the thread's.

use kcore::{Task, TaskStart};
use serde_json::Value;

use crate::{FramePlace, Opened, cases, frames, place};

fn address(told: &Value) -> u64 {
    let text = told["at"].as_str().expect("an address").trim_start_matches("0x");
    u64::from_str_radix(text, 16).expect("an address")
}

fn task(core: &Opened, id: u64) -> Option<std::sync::Arc<Task>> {
    core.core.tasks().all().iter().find(|task| task.runtime == "lua" && task.id == id).cloned()
}

#[test]
fn coroutines_are_tasks_in_the_states_and_with_the_frames_that_the_program_told() {
    for core in cases().iter().map(Opened::of) {
        let told = core.told("coroutines.jsonl");
        assert!(told.len() >= 5, "{}", core.name);
        for told in &told {
            let (at, state) = (address(told), told["state"].as_str().expect("a state"));
            let Some(task) = task(&core, at) else {
                assert_eq!(state, "ended", "{}: {told}", core.name);
                continue;
            };
            assert_eq!(task.state, state, "{}: {told}", core.name);
            if state == "created" {
                assert!(matches!(task.start, TaskStart::Unknown(_)), "{}: {task:?}", core.name);
                continue;
            }
            let stack = core.records(&format!("{at:x}::stack")).remove(0);
            let shown: Vec<FramePlace> =
                frames(&stack).into_iter().map(|(place, _)| place).collect();
            let frames = told["frames"].as_array().expect("frames");
            let told: Vec<FramePlace> = frames.iter().map(place).collect();
            assert_eq!(shown, told, "{}: {stack:#}", core.name);
        }
    }
}

#[test]
fn the_coroutine_that_runs_is_the_threads() {
    for core in cases().iter().map(Opened::of) {
        let all = core.core.tasks().all();
        let running: Vec<_> =
            all.iter().filter(|task| task.runtime == "lua" && task.thread.is_some()).collect();
        assert_eq!(running.len(), 1, "{}: {running:?}", core.name);
        assert_eq!(running[0].state, "running", "{}", core.name);
        assert_eq!(running[0].thread.map(kcore::Tid::get), core.truth.crashed_tid, "{}", core.name);
    }
}
