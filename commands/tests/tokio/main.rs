//! Tasks of tokio in real cores: states, waits and chains of futures as the program itself wrote them down.

mod chains;
mod cut;
#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../dcmds/hurt.rs"]
mod hurt;
#[path = "../dcmds/made.rs"]
mod made;
mod states;
mod stripped;

use std::{collections::HashMap, fs, path::PathBuf, sync::Arc};

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
        Self {
            name: case.name(),
            dir: case.dir.clone(),
            core: open(case.core.clone(), case.exe.clone()),
        }
    }

    fn records(&self, line: &str) -> Vec<Value> {
        harness::json_on(&self.core, line)
    }

    /// The rows of `::tokio`, by number.
    fn rows(&self) -> HashMap<u64, Value> {
        let rows = self.records("::tokio").into_iter();
        rows.filter(|row| row["type"] == "tokio_task")
            .filter_map(|row| Some((row["id"].as_u64()?, row)))
            .collect()
    }

    /// What the program told of its tasks.
    fn told(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.join("tasks.jsonl")).expect("lines");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

fn open(core: PathBuf, exe: PathBuf) -> Arc<Core> {
    let options = OpenOptions { core: Some(core), exe: Some(exe), ..OpenOptions::default() };
    Arc::new(Core::open(&options).expect("the core opens"))
}

/// The cases that this run has.
fn cases() -> Vec<Case> {
    let scenario = scenario("tokio-tasks").expect("a scenario");
    let few = gen_cores::is_short_run();
    let names = scenario.all_variants().map(|variant| variant.name.clone());
    let meant = names.filter(|name| !few || name == "release-pie");
    meant.filter_map(|variant| made("tokio-tasks", &variant)).collect()
}
