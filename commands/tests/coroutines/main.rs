//! Coroutines of C++20 in real cores: which there are, where they wait and who awaits them, as the program itself wrote
//! it down.

mod asio;
mod chains;
mod cut;
#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../dcmds/hurt.rs"]
mod hurt;
#[path = "../dcmds/made.rs"]
mod made;
mod reactors;
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

    /// The rows of `::coroutines`, by address.
    fn rows(&self) -> HashMap<String, Value> {
        let rows = self.records("::coroutines").into_iter();
        rows.filter(|row| row["type"] == "coroutine")
            .filter_map(|row| Some((row["address"].as_str()?.to_owned(), row)))
            .collect()
    }

    /// What the program told of its coroutines, the last word of each.
    fn told(&self) -> HashMap<String, Value> {
        let mut told = HashMap::new();
        for line in self.lines() {
            if let Some(gone) = line["gone"].as_str() {
                told.remove(gone);
            } else if let Some(address) = line["address"].as_str() {
                told.insert(address.to_owned(), line);
            }
        }
        told
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.join("coroutines.jsonl")).expect("lines");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

fn open(core: PathBuf, exe: PathBuf) -> Arc<Core> {
    let options = OpenOptions { core: Some(core), exe: Some(exe), ..OpenOptions::default() };
    Arc::new(Core::open(&options).expect("the core opens"))
}

/// The cases of a scenario that this run has.
fn cases_of(name: &str) -> Vec<Case> {
    let scenario = scenario(name).expect("a scenario");
    let few = gen_cores::is_short_run();
    let names = scenario.all_variants().map(|variant| variant.name.clone());
    let meant = names.filter(|name| !few || ["O2-pie", "O2-clang-pie"].contains(&name.as_str()));
    meant.filter_map(|variant| made(name, &variant)).collect()
}

fn cases() -> Vec<Case> {
    cases_of("cpp-coroutines")
}
