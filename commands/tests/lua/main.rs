//! Lua in real cores: frames, coroutines and variables as the program itself told them.

#[path = "../dcmds/chosen.rs"]
mod chosen;
mod coroutines;
mod cut;
#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../dcmds/hurt.rs"]
mod hurt;
#[path = "../dcmds/made.rs"]
mod made;
mod objects;
#[path = "../dcmds/opened.rs"]
mod opened;
mod stacks;
mod variables;

use gen_cores::{Case, scenario};
use made::made;
use opened::Opened;
use serde_json::Value;

/// All cases that this run has.
fn cases() -> Vec<Case> {
    let scenario = scenario("lua-stack").expect("a scenario");
    let few = gen_cores::is_short_run();
    let names = scenario.all_variants().map(|variant| variant.name.clone());
    let meant = |name: &String| !few || name.len() == "lua5.4".len();
    names.filter(meant).filter_map(|variant| made("lua-stack", &variant)).collect()
}

/// A frame of Lua: function, file, line. Functions of C have neither file nor line.
type FramePlace = (String, Option<String>, Option<u64>);

/// Frames of Lua of a record of a stack, with what is doubted of each.
fn frames(record: &Value) -> Vec<(FramePlace, Option<String>)> {
    let all = record["frames"].as_array().unwrap_or_else(|| panic!("frames: {record}"));
    let own = all.iter().filter(|frame| frame["kind"] == "lua");
    own.map(|frame| (place(frame), frame["doubt"].as_str().map(str::to_owned))).collect()
}

/// A frame of a record, or of what the program told.
fn place(frame: &Value) -> FramePlace {
    let file = frame["file"].as_str().map(str::to_owned);
    (frame["function"].as_str().unwrap_or("?").to_owned(), file, frame["line"].as_u64())
}

#[test]
fn frames_are_chosen_and_piped_as_the_stack_lists_them() {
    chosen::frames_are_those_that_the_stack_lists(&cases());
}
