//! Frames of threads that stand still: interpreted, compiled, inlined, native, no longer valid.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Opened, cases, java_frames, trace::Told};

/// Those that do not run on between what was told and the core.
fn still(core: &Opened) -> Vec<&Told> {
    let moves = |told: &&Told| told.name == "main" || told.state == "RUNNABLE";
    core.told.iter().filter(|told| !moves(told)).collect()
}

/// The stacks of threads of Java, by their numbers.
pub fn stacks(core: &Opened) -> BTreeMap<u64, Value> {
    let records = core.records("::walk javathread | ::stack");
    let by_thread: BTreeMap<u64, Value> =
        records.into_iter().filter_map(|record| Some((record["tid"].as_u64()?, record))).collect();
    let listed = core.listed();
    let id = |record: &Value| Some((record["thread"].as_u64()?, record["id"].as_u64()?));
    let ids: BTreeMap<u64, u64> = listed.iter().filter_map(id).collect();
    by_thread.into_iter().filter_map(|(tid, record)| Some((*ids.get(&tid)?, record))).collect()
}

/// All threads of a process.
pub fn check(core: &Opened) {
    let (told, stacks) = (still(core), stacks(core));
    assert!(told.len() >= 15, "{}: {}", core.name, told.len());
    for told in told {
        let stack = stacks.get(&told.id).unwrap_or_else(|| panic!("{} has {told:?}", core.name));
        let shown: Vec<_> =
            java_frames(stack).into_iter().map(|frame| (frame.function, frame.place)).collect();
        assert_eq!(shown, told.frames, "{} {}: {stack}", core.name, told.name);
        assert_eq!(stack["end"]["reason"], "outermost", "{} {}: {stack}", core.name, told.name);
        let frames = stack["frames"].as_array().expect("frames");
        assert!(frames.iter().all(|frame| frame["guess"] == false), "{}: {stack}", core.name);
    }
}

#[test]
fn stacks_are_as_java_tells_them() {
    cases("java-threads").iter().map(Opened::of).for_each(|core| check(&core));
}

#[test]
fn frames_say_how_they_are_run() {
    for core in cases("java-threads").iter().map(Opened::of) {
        let stacks = stacks(&core);
        let all: Vec<_> = stacks.values().flat_map(java_frames).collect();
        let is_compiled = |tier: &str| matches!(tier, "C1" | "C2" | "deoptimized");
        let compiled = all.iter().any(|frame| is_compiled(&frame.tier));
        assert_eq!(compiled, !core.has("xint"), "{}: compiled frames", core.name);
        let known = |tier: &str| is_compiled(tier) || matches!(tier, "interpreted" | "native");
        assert!(all.iter().all(|frame| known(&frame.tier)), "{}: {all:?}", core.name);
        let native = |name: &str| all.iter().any(|it| it.tier == "native" && it.function == name);
        assert!(
            native("java.lang.Object.wait") || native("java.lang.Object.wait0"),
            "{}",
            core.name
        );
        let sleeper = core.told.iter().find(|told| told.name == "sleeper").expect("it is told");
        let stack = java_frames(&stacks[&sleeper.id]);
        let ends = stack.last().expect("frames");
        assert_eq!(ends.function, "java.lang.Thread.run", "{}", core.name);
    }
}

#[test]
fn inlined_calls_are_frames_of_their_own() {
    for core in cases("java-threads").iter().map(Opened::of).filter(|core| !core.has("xint")) {
        let stacks = stacks(&core);
        let told = core.told.iter().find(|told| told.name.starts_with("inlined")).expect("told");
        let frames = java_frames(&stacks[&told.id]);
        let of = |name: &str| frames.iter().find(|frame| frame.function == name).expect("a frame");
        let (inner, middle) = (of("Threads.inner"), of("Threads.middle"));
        if inner.tier == "C2" {
            assert!(inner.inline && middle.inline, "{}: {frames:?}", core.name);
        }
        assert!(inner.tier != "interpreted" || !inner.inline, "{}: {frames:?}", core.name);
    }
}

#[test]
fn native_frames_stand_on_both_sides() {
    for core in cases("java-threads").iter().map(Opened::of) {
        for stack in stacks(&core).values().filter(|stack| !java_frames(stack).is_empty()) {
            let frames = stack["frames"].as_array().expect("frames");
            let names: Vec<&str> =
                frames.iter().map(|frame| frame["function"].as_str().unwrap_or("?")).collect();
            let stub = names.iter().rposition(|name| *name == "~StubRoutines::call_stub");
            let stub = stub.unwrap_or_else(|| panic!("{}: a call stub: {names:?}", core.name));
            assert!(names[stub..].contains(&"start_thread"), "{}: {names:?}", core.name);
            assert!(names[stub + 1].starts_with("JavaCalls::call_helper"), "{}", core.name);
        }
    }
}
