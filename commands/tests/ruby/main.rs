//! Ruby in real cores: frames, fibers, variables and counts of objects as the program itself told them.

#[path = "../dcmds/chosen.rs"]
mod chosen;
mod cut;
mod fibers;
#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../dcmds/hurt.rs"]
mod hurt;
mod live;
#[path = "../dcmds/made.rs"]
mod made;
#[path = "../dcmds/opened.rs"]
mod opened;
mod print;
mod ractors;
mod stacks;
mod values;

use gen_cores::{Case, scenario};
use made::made;
use opened::Opened;
use serde_json::Value;

/// All cases that this run has.
fn cases() -> Vec<Case> {
    let scenario = scenario("ruby-stack").expect("a scenario");
    let few = gen_cores::is_short_run();
    let names = scenario.all_variants().map(|variant| variant.name.clone());
    let meant = |name: &String| !few || ["ruby2.7", "ruby3.3", "yjit3.1"].contains(&name.as_str());
    names.filter(meant).filter_map(|variant| made("ruby-stack", &variant)).collect()
}

/// A frame of Ruby: function, file, line.
type FramePlace = (String, String, u64);

/// Frames of Ruby of a record of a stack, with what is doubted of each.
fn frames(record: &Value) -> Vec<(FramePlace, Option<String>)> {
    let all = record["frames"].as_array().unwrap_or_else(|| panic!("frames: {record}"));
    let own = all.iter().filter(|frame| frame["kind"] == "ruby");
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let frame = |frame: &Value| {
        let file = text(&frame["file"]);
        let file = file.rsplit('/').next().unwrap_or_default().to_owned();
        let place = (text(&frame["function"]), file, frame["line"].as_u64().unwrap_or_default());
        (place, frame["doubt"].as_str().map(str::to_owned))
    };
    own.map(frame).collect()
}

#[test]
fn frames_are_chosen_and_piped_as_the_stack_lists_them() {
    chosen::frames_are_those_that_the_stack_lists(&cases());
}
