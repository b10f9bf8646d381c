//! LuaJIT in real cores: frames, coroutines and variables as the program itself told them, and traces.

mod coroutines;
mod cut;
#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../dcmds/made.rs"]
mod made;
mod objects;
mod stacks;
mod traces;
mod variables;

use std::{fs, sync::Arc};

use gen_cores::{Case, Truth, scenario};
use kcore::{Core, OpenOptions};
use made::made;
use serde_json::Value;

/// An opened core, and what was told.
struct Opened {
    name: String,
    dir: std::path::PathBuf,
    core: Arc<Core>,
    truth: Truth,
}

impl Opened {
    fn of(case: &Case) -> Self {
        let (core, exe) = (Some(case.core.clone()), Some(case.exe.clone()));
        let options = OpenOptions { core, exe, ..OpenOptions::default() };
        let core = Arc::new(Core::open(&options).expect("the core opens"));
        let truth = case.truth().expect("a truth");
        Self { name: case.name(), dir: case.dir.clone(), core, truth }
    }

    fn records(&self, line: &str) -> Vec<Value> {
        harness::json_on(&self.core, line)
    }

    /// Lines of JSON that the program left beside its core.
    fn told(&self, file: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.join(file)).expect("lines");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// All cases of a scenario that this run has.
fn cases(name: &str) -> Vec<Case> {
    let scenario = scenario(name).expect("a scenario");
    let names = scenario.all_variants().map(|variant| variant.name.clone());
    names.filter_map(|variant| made(name, &variant)).collect()
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
