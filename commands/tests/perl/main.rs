//! Perl in real cores: frames and variables as the program itself told them.

#[path = "../dcmds/chosen.rs"]
mod chosen;
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
    let scenario = scenario("perl-stack").expect("a scenario");
    let names = scenario.all_variants().map(|variant| variant.name.clone());
    names.filter_map(|variant| made("perl-stack", &variant)).collect()
}

/// A frame of Perl: function, file, line.
type FramePlace = (String, Option<String>, Option<u64>);

/// Frames of Perl of a record of a stack, with what is doubted of each; without functions of C, which `caller` does not tell.
fn frames(record: &Value) -> Vec<(FramePlace, Option<String>)> {
    let all = record["frames"].as_array().unwrap_or_else(|| panic!("frames: {record}"));
    let own = all.iter().filter(|frame| frame["kind"] == "perl" && frame["tier"] != "XS");
    own.map(|frame| (place(frame), frame["doubt"].as_str().map(str::to_owned))).collect()
}

/// A frame of a record, or of what the program told.
fn place(frame: &Value) -> FramePlace {
    // Files are named by the path that they were found under.
    let file = frame["file"].as_str().and_then(|file| file.rsplit('/').next()).map(str::to_owned);
    (frame["function"].as_str().unwrap_or("?").to_owned(), file, frame["line"].as_u64())
}

#[test]
fn frames_are_chosen_and_piped_as_the_stack_lists_them() {
    chosen::frames_are_those_that_the_stack_lists(&cases());
}
