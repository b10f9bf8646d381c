//! The stack of the thread: every frame.

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
    let cases = cases("luajit-stack");
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
fn frames_of_lua_stand_where_the_machine_ran_them() {
    for core in cases("luajit-stack").iter().map(Opened::of) {
        let stack = stack(&core);
        let all = stack["frames"].as_array().expect("frames");
        let is_lua = |frame: &Value| frame["kind"] == "lua";
        // What reads stands inside of all of them, what the program calls LuaJIT by outside of all but its own function.
        let first = all.iter().position(is_lua).expect("a frame");
        assert!(all[..first].iter().any(|frame| frame["function"] == "read"), "{stack:#}");
        let last = all.iter().rposition(is_lua).expect("a frame");
        assert!(all[last..].iter().any(|frame| frame["function"] == "main"), "{stack:#}");
        // `table.sort` is a function of C that calls back.
        let sort = all.iter().position(|frame| frame["function"] == "sort").expect("sort");
        let inner = all[..sort].iter().rposition(|frame| frame["kind"] == "native");
        let comparing = all[..sort].iter().rposition(is_lua);
        assert!(inner > comparing, "{stack:#}");
    }
}

#[test]
fn the_module_says_its_release() {
    for core in cases("luajit-stack").iter().map(Opened::of) {
        let text = crate::harness::run_on(&core.core, "::runtimes").out;
        assert!(text.contains("luajit 2.1."), "{}: {text}", core.name);
    }
}
