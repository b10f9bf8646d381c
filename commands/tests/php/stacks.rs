//! The stack of the thread: every frame, each function of C at its own native frame.

use gen_cores::Call;
use serde_json::Value;

use crate::{FramePlace, Opened, cases, frames, harness, unplaced};

fn told(core: &Opened) -> Vec<FramePlace> {
    let place = |call: &Call| {
        let function = unplaced(call.function.as_deref().unwrap_or_default());
        (function, call.file.clone(), call.line.map(u64::from))
    };
    core.truth.threads[0].calls().map(place).collect()
}

fn stack(core: &Opened) -> Value {
    let tid = core.truth.crashed_tid.expect("a thread");
    core.records(&format!("0t{tid}::stack")).remove(0)
}

#[test]
fn every_frame_is_what_the_backtrace_of_the_program_told() {
    let cases = cases();
    assert!(!cases.is_empty() || gen_cores::is_short_run(), "there are cases");
    for core in cases.iter().map(Opened::of) {
        let stack = stack(&core);
        let shown = frames(&stack);
        assert!(shown.iter().all(|(_, doubt)| doubt.is_none()), "{}: {shown:#?}", core.name);
        let places: Vec<FramePlace> = shown.into_iter().map(|(place, _)| place).collect();
        let told = told(&core);
        assert!(told.len() >= 24, "{}: {told:?}", core.name);
        assert_eq!(places, told, "{}: {stack:#}", core.name);
    }
}

#[test]
fn functions_of_c_stand_right_behind_their_own_native_frames() {
    for core in cases().iter().map(Opened::of) {
        let stack = stack(&core);
        let all = stack["frames"].as_array().expect("frames");
        let mut found = Vec::new();
        for (place, frame) in all.iter().enumerate().filter(|(_, frame)| frame["kind"] == "php") {
            let function = frame["function"].as_str().unwrap_or_default();
            // That of `usort` jumps to one that it shares with others.
            if !["fread", "array_reduce", "array_map"].contains(&function) {
                continue;
            }
            let inner = &all[place.checked_sub(1).expect("a frame before it")];
            if inner["kind"] == "native" {
                assert_eq!(inner["pc"], frame["pc"], "{} {frame}: {stack:#}", core.name);
                found.push(function);
            }
        }
        // What called the fiber that runs lies on another stack.
        let wanted: &[&str] = match core.has_fibers() {
            true => &["fread"],
            false => &["fread", "array_reduce", "array_map"],
        };
        assert_eq!(found, wanted, "{}: {stack:#}", core.name);
    }
}

#[test]
fn the_program_says_its_release() {
    for core in cases().iter().map(Opened::of) {
        let text = harness::run_on(&core.core, "::runtimes").out;
        let wanted = format!("php {}.", core.release());
        assert!(text.contains(&wanted), "{}: {text}", core.name);
    }
}
