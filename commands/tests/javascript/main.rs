//! Dcmds of JavaScript on real cores of Node.js, held against what their programs know of themselves.

mod functions;
#[path = "../dcmds/harness.rs"]
#[allow(dead_code)]
mod harness;
mod raw;
mod stacks;
mod told;
mod values;

use std::sync::{Arc, LazyLock};

use gen_cores::{Case, Extent, Language, Truth, ensure_language};
use kcore::{Core, OpenOptions};
use serde_json::Value;

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let report = ensure_language(Language::JavaScript, Extent::Usual).expect("cores are made");
    for skipped in &report.skipped {
        gen_cores::not_tested(skipped);
    }
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    report.cases
});

/// A core, and what its program told.
pub struct Opened {
    /// Its name.
    pub name: String,
    /// What it was made of.
    pub case: Case,
    /// The core.
    pub core: Arc<Core>,
    /// What its program told of its stacks.
    pub truth: Truth,
}

impl Opened {
    /// The records of a line that does not fail, without the header.
    pub fn records(&self, line: &str) -> Vec<Value> {
        let records = harness::json_on(&self.core, line);
        for record in &records {
            assert_ne!(record["type"], "error", "{} {line}: {record}", self.name);
        }
        records
    }

    /// The only record of a line.
    pub fn one(&self, line: &str) -> Value {
        let mut records = self.records(line);
        assert_eq!(records.len(), 1, "{} {line}: {records:?}", self.name);
        records.remove(0)
    }

    /// What a line shows.
    pub fn text(&self, line: &str) -> String {
        let outcomes = harness::run_on(&self.core, line);
        assert_eq!(outcomes.errors, "", "{} {line}", self.name);
        outcomes.out
    }

    /// What a line that fails says.
    pub fn error(&self, line: &str) -> String {
        let outcomes = harness::run_on(&self.core, line);
        assert!(outcomes.status.failed(), "{} {line}: {}", self.name, outcomes.out);
        outcomes.errors.lines().next().unwrap_or_default().to_owned()
    }

    /// The address of the first argument of the innermost frame of a function.
    pub fn argument(&self, function: &str) -> String {
        let records = self.records(&format!("::jsstack -f {function} -p arg1"));
        let first = records.first().unwrap_or_else(|| panic!("{}: no {function}", self.name));
        first["address"].as_str().expect("an address").to_owned()
    }
}

/// The cores of a scenario.
pub fn cores(scenario: &str) -> impl Iterator<Item = Opened> {
    let cases = CASES.iter().filter(move |case| case.scenario == scenario);
    cases.map(|case| {
        let options = OpenOptions {
            core: Some(case.core.clone()),
            exe: Some(case.exe.clone()),
            ..OpenOptions::default()
        };
        Opened {
            name: case.name(),
            core: Arc::new(Core::open(&options).expect("the core opens")),
            truth: case.truth().expect("a truth"),
            case: case.clone(),
        }
    })
}
