//! `TID::frame N` on stacks with frames of scripts.

use crate::Opened;

/// Frames of a stack that are chosen.
const CHOSEN: usize = 40;

/// Each frame that `::stack` lists of the crashed thread is the one that `::frame` chooses by its number.
pub fn each_frame_is_the_one_that_the_stack_lists(core: &Opened) {
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
