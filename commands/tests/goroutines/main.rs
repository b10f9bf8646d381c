//! Goroutines, held against what Go's own printer said of them right before: in every state, of programs with symbols and
//! without.

mod arguments;
mod bubbles;
mod crossing;
mod cut;
mod deaths;
mod ends;
#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
mod heap;
mod library;
mod live;
#[path = "../dcmds/made.rs"]
mod made;
mod states;
mod stripped;
mod timers;
mod trace;
mod variables;
mod waits;

use std::{fs, sync::Arc};

use gen_cores::{Case, Outcome, scenario};
use kcore::{Core, OpenOptions};
use made::made;
use serde_json::Value;
use trace::Told;

/// An opened core, and what was told.
struct Opened {
    name: String,
    core: Arc<Core>,
    told: Vec<Told>,
}

/// An opened core of a program that told something else than what Go prints.
fn open(case: &Case) -> Opened {
    let sysroot = case.truth().expect("a truth").sysroot.map(Into::into);
    let options = OpenOptions { core: Some(case.core.clone()), sysroot, ..OpenOptions::default() };
    let core = Arc::new(Core::open(&options).expect("the core opens"));
    Opened { name: case.name(), core, told: Vec::new() }
}

impl Opened {
    fn of(case: &Case) -> Self {
        let text = fs::read_to_string(case.dir.join("trace.txt")).expect("goroutines told");
        Self { told: trace::parse(&text), ..open(case) }
    }

    fn records(&self, line: &str) -> Vec<Value> {
        let records = harness::json_on(&self.core, line);
        for record in &records {
            assert_ne!(record["type"], "error", "{} {line}: {record}", self.name);
        }
        records
    }
}

/// What a text that does not fail shows people.
fn shown(core: &Opened, line: &str) -> String {
    let outcomes = harness::run_on(&core.core, line);
    assert_eq!(outcomes.errors, "", "{} {line}", core.name);
    outcomes.out
}

/// All cases of a scenario that this run has.
fn cases(name: &str) -> Vec<Case> {
    let scenario = scenario(name).expect("a scenario");
    let short = gen_cores::is_short_run();
    let variants = scenario.all_variants().map(|variant| variant.name.clone());
    let meant =
        |variant: &String| !short || variant.starts_with("go1.19") || variant.starts_with("go1.27");
    variants.filter(meant).filter_map(|variant| made(name, &variant)).collect()
}

/// Functions, and files with lines, of a record of a stack.
fn frames(record: &Value) -> Vec<(String, String)> {
    let frames = record["frames"].as_array().expect("frames");
    let frame = |frame: &Value| {
        let function = frame["function"].as_str().unwrap_or("?").to_owned();
        let file = frame["file"].as_str().unwrap_or("?");
        (function, format!("{file}:{}", frame["line"]))
    };
    frames.iter().map(frame).collect()
}

/// The number of the goroutine whose stack it is.
fn number(record: &Value) -> Option<u64> {
    let id = record["task"]["id"].as_str()?;
    u64::from_str_radix(id.strip_prefix("0x")?, 16).ok()
}

#[test]
fn there_are_cases() {
    let case = gen_cores::ensure("goroutines", "go1.19").expect("a case");
    assert!(!matches!(case, Outcome::Skipped(_)), "{case:?}");
}
