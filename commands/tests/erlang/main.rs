//! Processes of Erlang in real cores: what `erlang:process_info` and `ets:info` said of them before.

mod cut;
#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "../dcmds/hurt.rs"]
mod hurt;
#[path = "../dcmds/made.rs"]
mod made;
mod processes;
mod running;
mod terms;

use std::{collections::HashMap, fs, path::PathBuf, sync::Arc};

use gen_cores::{Case, scenario};
use kcore::{Core, OpenOptions};
use made::made;
use serde_json::Value;

const SCENARIO: &str = "erlang-processes";

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

    /// The records of one type.
    fn of_type(&self, line: &str, kind: &str) -> Vec<Value> {
        let records = self.records(line).into_iter();
        records.filter(|record| record["type"] == kind).collect()
    }

    /// The rows of `::erlprocesses`, by their numbers as Erlang prints them.
    fn rows(&self) -> HashMap<String, Value> {
        let rows = self.of_type("::erlprocesses", "erlang_process").into_iter();
        rows.map(|row| (text(&row["pid"]), row)).collect()
    }

    /// Lines of JSON that the program left beside its core.
    fn told(&self, file: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.join(file)).expect("lines");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The row of the process that is registered by a name.
    fn named(&self, name: &str) -> Value {
        let rows = self.of_type(&format!("::erlprocesses -n '{name}'"), "erlang_process");
        assert_eq!(rows.len(), 1, "{}: {name}", self.name);
        rows[0].clone()
    }

    /// The frames of the stack of a process, function and line, innermost first.
    fn stack(&self, pid: &str) -> Vec<(String, Option<u64>)> {
        let number = number(pid);
        let stacks = self.of_type(&format!("0t{number}::stack"), "stack");
        let stack = stacks.first().unwrap_or_else(|| panic!("{}: {pid} has a stack", self.name));
        frames(stack)
    }
}

/// The functions of Erlang in a record of a stack, with their lines, innermost first.
fn frames(stack: &Value) -> Vec<(String, Option<u64>)> {
    let all = stack["frames"].as_array().unwrap_or_else(|| panic!("frames: {stack}"));
    let own = all.iter().filter(|frame| frame["kind"] == "beam");
    own.map(|frame| (text(&frame["function"]), frame["line"].as_u64())).collect()
}

/// The second number of a process: `87` of `<0.87.0>`.
fn number(pid: &str) -> &str {
    pid.split('.').nth(1).expect("a number")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn open(core: PathBuf, exe: PathBuf) -> Arc<Core> {
    let options = OpenOptions { core: Some(core), exe: Some(exe), ..OpenOptions::default() };
    Arc::new(Core::open(&options).expect("the core opens"))
}

/// The cases that this run has.
fn cases() -> Vec<Case> {
    let scenario = scenario(SCENARIO).expect("a scenario");
    let names = scenario.all_variants().map(|variant| variant.name.clone());
    names.filter_map(|variant| made(SCENARIO, &variant)).collect()
}
