//! PHP in real cores: frames, fibers, generators and variables as the program itself told them.

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
mod many;
mod objects;
#[path = "../dcmds/opened.rs"]
mod opened;
mod print;
mod stacks;
mod tasks;
mod variables;

use gen_cores::{Case, scenario};
use made::made;
use opened::Opened;
use serde_json::Value;

impl Opened {
    /// The release that its variant names: `8.2` of `php8.2-gcore`.
    fn release(&self) -> &str {
        let variant = self.name.rsplit('/').next().unwrap_or_default();
        let word = variant.split('-').next().unwrap_or_default();
        word.trim_start_matches(|sign: char| !sign.is_ascii_digit())
    }

    fn has_fibers(&self) -> bool {
        self.release() != "7.4"
    }
}

/// All cases that this run has.
fn cases() -> Vec<Case> {
    let scenario = scenario("php-stack").expect("a scenario");
    let few = gen_cores::is_short_run();
    let names = scenario.all_variants().map(|variant| variant.name.clone());
    let meant = |name: &String| !few || ["php7.4", "php8.4", "jit8.2"].contains(&name.as_str());
    names.filter(meant).filter_map(|variant| made("php-stack", &variant)).collect()
}

/// A frame of PHP: function, file without its folder, line. Functions of C have neither file nor line.
type FramePlace = (String, Option<String>, Option<u64>);

/// Frames of PHP of a record of a stack, with what is doubted of each.
fn frames(record: &Value) -> Vec<(FramePlace, Option<String>)> {
    let all = record["frames"].as_array().unwrap_or_else(|| panic!("frames: {record}"));
    let own = all.iter().filter(|frame| frame["kind"] == "php");
    own.map(|frame| (place(frame), frame["doubt"].as_str().map(str::to_owned))).collect()
}

/// A frame of a record, or of what the program told.
fn place(frame: &Value) -> FramePlace {
    let function = frame["function"].as_str().unwrap_or("?");
    let file = frame["file"].as_str().and_then(|file| file.rsplit('/').next()).map(str::to_owned);
    (unplaced(function), file, frame["line"].as_u64())
}

/// The name of a function without the file and the line that closures have in it since 8.4.
fn unplaced(function: &str) -> String {
    match function.split_once("{closure:") {
        Some((class, place)) => {
            let line = place.rsplit(':').next().unwrap_or_default();
            format!("{class}{{closure:{line}")
        }
        None => function.to_owned(),
    }
}

#[test]
fn frames_are_chosen_and_piped_as_the_stack_lists_them() {
    chosen::frames_are_those_that_the_stack_lists(&cases());
}
