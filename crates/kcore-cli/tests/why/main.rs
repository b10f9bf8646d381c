//! `kcore why`: what is claimed of programs that know how they end, and what is not.

mod alone;
mod asserts;
mod circles;
mod claims;
mod damaged;
mod freed;
mod gallery;
mod hangs;
mod items;
mod libraries;
mod locks;
mod own;
mod pointers;
#[path = "../support/process.rs"]
mod process;
mod several;
mod stated;
mod terminates;
mod torn;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use gen_cores::{Case, Outcome};
use serde_json::Value;

/// A case of a scenario; `None` if this machine cannot make it, which is noted.
fn case(scenario: &str, variant: &str) -> Option<Case> {
    match gen_cores::ensure(scenario, variant).expect("a core") {
        Outcome::Made(case) | Outcome::Fresh(case) => Some(case),
        Outcome::Skipped(skipped) => {
            gen_cores::not_tested(skipped);
            None
        }
    }
}

fn kcore(words: &[&str], core: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kcore"));
    command.args(words).arg(core).stdin(Stdio::null()).output().unwrap()
}

/// What is known of why a process died, as JSON.
fn analysis(core: &Path) -> Value {
    let output = kcore(&["why", "--json"], core);
    let text = String::from_utf8(output.stdout).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut found = records.filter(|record| record["type"] == "analysis");
    found.next().unwrap_or_else(|| panic!("{}: no analysis: {text}", core.display()))
}

fn findings(analysis: &Value) -> &[Value] {
    analysis["findings"].as_array().unwrap()
}

/// The lines that show the evidence of a finding, and those of what to ask next.
fn commands(finding: &Value) -> impl Iterator<Item = &str> {
    let facts = [&finding["evidence"], &finding["next"]].into_iter();
    facts.flat_map(|list| list.as_array().unwrap()).map(|fact| fact["command"].as_str().unwrap())
}
