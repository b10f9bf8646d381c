//! Stacks of threads: every frame, in its place among the native ones; states; the exceptions that are handled.

use gen_cores::{Call, Thread};
use kcore::{Fate, LastWords, Tid};
use serde_json::Value;

use crate::{FramePlace, Opened, cases, frames};

/// The frames that the program told.
fn told(thread: &Thread) -> Vec<FramePlace> {
    let place = |call: &Call| {
        let file = call.file.clone().unwrap_or_default();
        (call.function.clone().unwrap_or_default(), file, u64::from(call.line.unwrap_or_default()))
    };
    thread.calls().map(place).collect()
}

/// Whether machine code keeps the line of its innermost frame: not while it runs.
fn is_exact(core: &Opened, thread: &Thread) -> bool {
    !(core.name.contains("yjit") && thread.role == "spinning")
}

/// All threads of a process.
pub fn check(core: &Opened) {
    assert!(core.truth.threads.len() >= 7, "{}", core.name);
    for thread in &core.truth.threads {
        let stack = core.records(&format!("0t{}::stack", thread.tid)).remove(0);
        let (shown, mut told) = (frames(&stack), told(thread));
        let name = format!("{} {}", core.name, thread.role);
        let mut places: Vec<FramePlace> = shown.iter().map(|(place, _)| place.clone()).collect();
        if !is_exact(core, thread) {
            let last = |all: &mut Vec<FramePlace>| all.first_mut().expect("a frame").2 = 0;
            last(&mut places);
            last(&mut told);
        } else {
            assert!(shown.iter().all(|(_, doubt)| doubt.is_none()), "{name}: {shown:#?}");
        }
        assert_eq!(places, told, "{name}: {stack:#}");
        assert_eq!(stack["end"]["reason"], "outermost", "{name}: {stack:#}");
    }
}

#[test]
fn every_frame_of_every_thread_is_what_the_program_told() {
    cases().iter().map(Opened::of).for_each(|core| check(&core));
}

#[test]
fn frames_of_c_stand_where_they_call_and_are_called() {
    for core in cases().iter().map(Opened::of) {
        let crashed = core.truth.crashed_tid.expect("a thread");
        let stack = core.records(&format!("0t{crashed}::stack")).remove(0);
        let all = stack["frames"].as_array().expect("frames");
        let at = |wanted: &dyn Fn(&Value) -> bool| all.iter().position(wanted);
        let extension =
            at(&|frame| frame["module"].as_str().is_some_and(|it| it.starts_with("stringio")));
        let named = |name: &'static str| {
            at(&move |frame: &Value| frame["function"] == name)
                .unwrap_or_else(|| panic!("{name}: {stack:#}"))
        };
        let extension = extension.expect("frames of the extension");
        // The block that it calls is further in, who called it further out.
        assert!(named("block (3 levels) in finish") < extension, "{}", core.name);
        assert!(extension < named("block (2 levels) in finish"), "{}", core.name);
        assert!(extension < named("StringIO#each_line"), "{}", core.name);
    }
}

/// How the state of a thread begins, and what it has in it; `None` of the one that does not wait.
fn waits_of(role: &str) -> Option<(&'static str, &'static str)> {
    match role {
        "in_sleep" | "in_fiber" => Some(("waits in ", "Kernel#sleep")),
        "in_lock" => Some(("waits forever in ", "Mutex#synchronize of ")),
        "in_queue" => Some(("waits forever in ", "Queue#pop of ")),
        "in_pipe" => Some(("waits in ", "IO#read of ")),
        _ => None,
    }
}

/// The state of the thread with a role.
fn others_named(core: &Opened, role: &str) -> String {
    let thread = core.truth.threads.iter().find(|thread| thread.role == role).expect("it");
    let state = core.core.thread_facts(Tid::new(thread.tid)).state;
    state.map(|state| state.to_string()).unwrap_or_default()
}

#[test]
fn threads_have_their_names_and_one_holds_the_lock() {
    for core in cases().iter().map(Opened::of) {
        let facts = |thread: &Thread| core.core.thread_facts(Tid::new(thread.tid));
        let core = &core;
        let others = core.truth.threads.iter().filter(|thread| !thread.crashed);
        for thread in others {
            assert_eq!(facts(thread).name.as_deref(), Some(&*thread.role), "{}", core.name);
            let state = facts(thread).state.unwrap_or_default();
            let ends = waits_of(&thread.role);
            let is_so = |(starts, inside): (&str, &str)| {
                state.starts_with(starts) && state.contains(inside)
            };
            assert!(ends.is_none_or(is_so), "{} {}: {state:?}", core.name, thread.role);
        }
        let locked = others_named(core, "in_lock");
        let held = format!(", held by thread {}", core.truth.crashed_tid.expect("a thread"));
        assert!(locked.ends_with(&held), "{}: {locked}", core.name);
        let piped = others_named(core, "in_pipe");
        assert!(piped.contains(", file descriptor "), "{}: {piped}", core.name);
        let holds = |thread: &&Thread| facts(thread).state.as_deref() == Some("holds the GVL");
        let holders: Vec<&str> =
            core.truth.threads.iter().filter(holds).map(|it| &*it.role).collect();
        let spins = core.truth.threads.iter().find(|thread| thread.role == "spinning").expect("it");
        // The one that runs has it, or waits for it behind the one that died.
        assert!(
            holders.len() <= 1 && holders.iter().all(|role| ["main", "spinning"].contains(role)),
            "{}: {holders:?}",
            core.name
        );
        let state = facts(spins).state;
        assert!(
            matches!(state.as_deref(), Some("holds the GVL" | "waits for the GVL")),
            "{}: {state:?}",
            core.name
        );
    }
}

#[test]
fn the_exception_that_is_handled_is_told_with_its_cause() {
    for core in cases().iter().map(Opened::of) {
        let words = core.core.crash().last_words();
        let told = words.iter().find_map(|words| match words {
            LastWords::Exception { fate, type_name, what, .. } => {
                Some((*fate, type_name.as_str(), what.as_deref()))
            }
            _ => None,
        });
        let (fate, name, what) = told.unwrap_or_else(|| panic!("{}: {words:?}", core.name));
        assert_eq!(
            (fate, name, what),
            (
                Fate::Handled,
                "ArgumentError",
                Some("the outer one; caused by Shop::Failure: the inner one")
            ),
            "{}",
            core.name
        );
    }
}
