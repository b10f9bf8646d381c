//! Greenlets in real cores: states, parents, stacks and waits as the program itself wrote them down.

mod cut;
#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../dcmds/hurt.rs"]
mod hurt;
#[path = "../dcmds/made.rs"]
mod made;
mod stacks;
mod states;
mod waits;

use std::{fs, path::PathBuf, sync::Arc};

use gen_cores::{Case, scenario};
use kcore::{Core, OpenOptions};
use made::made;
use serde_json::Value;

/// An opened core, and what was told.
struct Opened {
    name: String,
    dir: PathBuf,
    core: Arc<Core>,
}

impl Opened {
    fn of(case: &Case) -> Self {
        let (core, exe) = (Some(case.core.clone()), Some(case.exe.clone()));
        let options = OpenOptions { core, exe, ..OpenOptions::default() };
        let core = Arc::new(Core::open(&options).expect("the core opens"));
        Self { name: case.name(), dir: case.dir.clone(), core }
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

/// All cases of a scenario that this run has: of a short one the oldest and the newest CPython.
fn cases_of(name: &str) -> Vec<Case> {
    let scenario = scenario(name).expect("a scenario");
    let few = gen_cores::is_short_run();
    let names: Vec<String> = scenario.all_variants().map(|variant| variant.name.clone()).collect();
    let meant =
        |name: &&String| !few || ["python3.8", "python3.13", "debian3.15"].contains(&name.as_str());
    names.iter().filter(meant).filter_map(|variant| made(name, variant)).collect()
}

/// Those whose greenlets the program told with all that is known of them.
fn cases() -> Vec<Case> {
    ["greenlets", "greenlets-old"].into_iter().flat_map(cases_of).collect()
}

/// A number that the program told as an address.
fn address(told: &Value) -> Option<u64> {
    u64::from_str_radix(told.as_str()?.trim_start_matches("0x"), 16).ok()
}
