//! `TID::frame N` on stacks with frames of scripts.

use gen_cores::Case;

use crate::Opened;

/// Frames of a stack that are chosen.
const CHOSEN: usize = 40;

/// Frames of the cores are chosen by their numbers, and piped, as `::stack` lists them.
pub fn frames_are_those_that_the_stack_lists(cases: &[Case]) {
    for core in cases.iter().map(Opened::of) {
        each_frame_is_the_one_that_the_stack_lists(&core);
        each_frame_of_a_pipe_has_its_variables(&core);
    }
}

/// Each frame that `::stack` lists of the crashed thread is the one that `::frame` chooses by its number.
fn each_frame_is_the_one_that_the_stack_lists(core: &Opened) {
    let tid = core.truth.crashed_tid.expect("a thread");
    let stack = core.records(&format!("0t{tid}::stack")).remove(0);
    let frames = stack["frames"].as_array().expect("frames");
    assert!(frames.iter().any(|frame| frame["kind"] != "native"), "{}: a script runs", core.name);
    for frame in frames.iter().take(CHOSEN) {
        let number = frame["index"].as_u64().expect("a number");
        let chosen = core.records(&format!("0t{tid}::frame {number}")).remove(0);
        for fact in ["index", "function", "file", "line", "pc"] {
            assert_eq!(chosen[fact], frame[fact], "{}: {fact} of {number}", core.name);
        }
    }
}

/// Frames from a pipe have the variables that each has when it is chosen by its number, however many of a language one
/// frame of machine code runs.
fn each_frame_of_a_pipe_has_its_variables(core: &Opened) {
    let tid = core.truth.crashed_tid.expect("a thread");
    let stack = core.records(&format!("0t{tid}::stack")).remove(0);
    let frames = stack["frames"].as_array().expect("frames");
    let of_scripts = frames.iter().filter(|frame| frame["kind"] != "native");
    let piped = variables(core, &format!("0t{tid}::walk frame | ::locals"));
    let mut count = 0;
    for frame in of_scripts.take(CHOSEN) {
        let number = frame["index"].as_u64().expect("a number");
        let chosen = variables(core, &format!("0t{tid}::frame {number}; ::locals"));
        let own: Vec<_> = piped.iter().filter(|it| it["frame"] == number).cloned().collect();
        assert_eq!(own, chosen, "{}: frame {number}", core.name);
        count += own.len();
    }
    assert!(count > 5, "{}: {count} variables", core.name);
}

fn variables(core: &Opened, line: &str) -> Vec<serde_json::Value> {
    let records = core.records(line).into_iter();
    records.filter(|record| record["type"] == "frame_variable").collect()
}
