//! Tasks of trio in real cores: states, parents, stacks, waits and deadlines as the program itself wrote them down.

mod cut;
#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../dcmds/hurt.rs"]
mod hurt;
mod live;
#[path = "../dcmds/made.rs"]
mod made;
mod stacks;
mod states;
mod waits;

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
        let (core, exe) = (Some(case.core.clone()), Some(case.exe.clone()));
        let options = OpenOptions { core, exe, ..OpenOptions::default() };
        let core = Arc::new(Core::open(&options).expect("the core opens"));
        Self { name: case.name(), dir: case.dir.clone(), core }
    }

    fn records(&self, line: &str) -> Vec<Value> {
        harness::json_on(&self.core, line)
    }

    /// What the program told of each task.
    fn told(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.join("tasks.jsonl")).expect("lines");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// What it told of each task, and what is shown of it.
    fn both(&self) -> Vec<(Value, Value)> {
        let rows = self.records("::trio").into_iter();
        let rows: HashMap<u64, Value> =
            rows.filter_map(|row| Some((address(&row["address"])?, row))).collect();
        let told = self.told().into_iter();
        let with_row = |told: Value| {
            let row = address(&told["at"]).and_then(|at| rows.get(&at));
            let row = row.unwrap_or_else(|| panic!("{}: {told:#} is not shown", self.name));
            (told, row.clone())
        };
        told.map(with_row).collect()
    }
}

/// All cases that this run has: of a short one the oldest and the newest CPython.
fn cases() -> Vec<Case> {
    let few = gen_cores::is_short_run();
    let meant = |name: &str| !few || ["python3.8", "python3.13", "debian3.15"].contains(&name);
    let of = |name: &'static str| {
        let scenario = scenario(name).expect("a scenario");
        let names = scenario.all_variants().map(|variant| variant.name.clone());
        let names: Vec<String> = names.filter(|name| meant(name)).collect();
        names.into_iter().filter_map(move |variant| made(name, &variant))
    };
    ["trio", "trio-old"].into_iter().flat_map(of).collect()
}

/// A number that the program told as an address.
fn address(told: &Value) -> Option<u64> {
    u64::from_str_radix(told.as_str()?.trim_start_matches("0x"), 16).ok()
}
