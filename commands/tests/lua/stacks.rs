//! The stack of the thread: every frame, each function of C at its own native frame.

use gen_cores::Call;
use serde_json::Value;

use crate::{FramePlace, Opened, cases, frames};

fn told(core: &Opened) -> Vec<FramePlace> {
    let place = |call: &Call| {
        (call.function.clone().unwrap_or_default(), call.file.clone(), call.line.map(u64::from))
    };
    core.truth.threads[0].calls().map(place).collect()
}

fn stack(core: &Opened) -> Value {
    let tid = core.truth.crashed_tid.expect("a thread");
    core.records(&format!("0t{tid}::stack")).remove(0)
}

#[test]
fn every_frame_is_what_the_traceback_of_the_program_told() {
    let cases = cases();
    assert!(!cases.is_empty() || gen_cores::is_short_run(), "there are cases");
    for core in cases.iter().map(Opened::of) {
        let stack = stack(&core);
        let shown = frames(&stack);
        assert!(shown.iter().all(|(_, doubt)| doubt.is_none()), "{}: {shown:#?}", core.name);
        let places: Vec<FramePlace> = shown.into_iter().map(|(place, _)| place).collect();
        let told = told(&core);
        assert!(told.len() >= 26, "{}: {told:?}", core.name);
        assert_eq!(places, told, "{}: {stack:#}", core.name);
        assert_eq!(stack["end"]["reason"], "outermost", "{}: {stack:#}", core.name);
    }
}

#[test]
fn functions_of_c_stand_right_behind_their_own_native_frames() {
    // That of `read` has none in some versions: it leads to another in its place.
    for core in cases().iter().map(Opened::of) {
        let stack = stack(&core);
        let all = stack["frames"].as_array().expect("frames");
        let is_c = |frame: &Value| frame["kind"] == "lua" && frame["line"].is_null();
        let mut count = 0;
        for (place, frame) in all.iter().enumerate().filter(|(_, frame)| is_c(frame)) {
            let inner = &all[place.checked_sub(1).expect("a frame before it")];
            assert_eq!(inner["kind"], "native", "{} {frame}: {stack:#}", core.name);
            let is_own = inner["pc"] == frame["pc"] || count == 0;
            assert!(is_own, "{} {frame}: {stack:#}", core.name);
            count += 1;
        }
        // read, wrap's function, sort, pcall, gsub, and the interpreter's own.
        assert_eq!(count, 6, "{}: {stack:#}", core.name);
    }
}

#[test]
fn the_module_says_its_release() {
    for core in cases().iter().map(Opened::of) {
        let text = harness_text(&core, "::runtimes");
        let variant = core.name.rsplit('/').next().unwrap_or_default();
        let word = variant.split('-').next().unwrap_or_default().trim_start_matches("lua");
        assert!(
            text.contains(&format!("lua {word}.")) || text.contains(&format!("lua {word},")),
            "{}: {text}",
            core.name
        );
    }
}

fn harness_text(core: &Opened, line: &str) -> String {
    crate::harness::run_on(&core.core, line).out
}
