//! Every value that a program told, asked of kcore.

use std::collections::HashMap;

use gen_cores::Case;
use rayon::prelude::*;
use serde_json::Value as Json;

use crate::ask::Asked;
use crate::told::{Question, Told};
use crate::{compare, differs, told};

/// The scenarios whose programs tell values.
const SCENARIOS: [&str; 4] = ["values-c", "values-cpp", "values-rust", "values-go"];

/// What must be checked at the least, over all cases.
const FEWEST: usize = 300;

/// A value that is not what the program told.
pub struct Difference {
    /// The scenario and the variant.
    pub case: Case,
    /// What was asked.
    pub name: String,
    /// What is wrong.
    pub what: String,
}

/// The cases of scenarios that this run has, made where they are missing.
pub fn cases(scenarios: &[&str]) -> Vec<Case> {
    let report = gen_cores::ensure_scenarios(scenarios).unwrap();
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    report.skipped.iter().for_each(gen_cores::not_tested);
    report.cases
}

/// Asks one core for all values that its program told.
struct Check {
    asked: Asked,
    roots: HashMap<String, Option<Json>>,
    locals: HashMap<String, Result<Vec<Json>, String>>,
}

impl Check {
    fn one(&mut self, told: &Told) -> Result<(), String> {
        match &told.question {
            Question::Global(path) => self.global(path, told),
            Question::Local { function, path, .. } => self.local(function, path, told),
            Question::Number(command) => self.number(command, told),
            Question::Addresses(command) => self.addresses(command, told),
        }
    }

    /// By its own path, and as a part of the whole that the path starts from.
    fn global(&mut self, path: &str, told: &Told) -> Result<(), String> {
        let seen = self.asked.print(path)?;
        compare::tree(&told.truth, &seen)?;
        let root = path.split(['.', '[', '-']).next().unwrap_or(path);
        if root == path || root.starts_with('(') {
            return Ok(());
        }
        let asked = &mut self.asked;
        let whole = self.roots.entry(root.to_owned()).or_insert_with(|| asked.print(root).ok());
        whole.as_ref().map_or(Ok(()), |whole| compare::from_root(&told.truth, whole, path))
    }

    fn local(&mut self, function: &str, path: &str, told: &Told) -> Result<(), String> {
        let asked = &mut self.asked;
        let locals = self
            .locals
            .entry(function.to_owned())
            .or_insert_with(|| asked.locals(function))
            .as_ref()
            .map_err(Clone::clone)?;
        let root = path.split(['.', '[', '-']).next().unwrap_or(path);
        let local = locals.iter().find(|local| local["name"] == root).ok_or("no such local")?;
        if let Some(absent) = local["absent"].as_str() {
            return Err(format!("is {absent}"));
        }
        match root == path {
            true => compare::tree(&told.truth, &local["value"]),
            false => compare::from_root(&told.truth, &local["value"], path),
        }
    }

    fn number(&mut self, command: &str, told: &Told) -> Result<(), String> {
        let records = self.asked.records(command)?;
        let record = records.first().ok_or("no record")?;
        let key = if command.starts_with("::offsetof") { "offset" } else { "size" };
        let seen = record[key].as_u64();
        match seen == told.truth["bytes"].as_u64() {
            true => Ok(()),
            false => Err(format!("should be {}, is {record}", told.truth["bytes"])),
        }
    }

    fn addresses(&mut self, command: &str, told: &Told) -> Result<(), String> {
        let records = self.asked.records(&format!("{command} | ::eval '.=J'"))?;
        let seen: Vec<&Json> = records.iter().map(|record| &record["value"]).collect();
        let wanted: Vec<&Json> = told.truth["addresses"].as_array().unwrap().iter().collect();
        match seen == wanted {
            true => Ok(()),
            false => Err(format!("should be {wanted:?}, is {records:?}")),
        }
    }
}

fn check(case: &Case) -> (usize, Vec<Difference>) {
    let told = told::of(case);
    let mut check =
        Check { asked: Asked::open(case), roots: HashMap::new(), locals: HashMap::new() };
    let found = told.iter().filter_map(|told| {
        let what = check.one(told).err()?;
        Some(Difference { case: case.clone(), name: told.name(), what })
    });
    let found = found.collect();
    (told.len(), found)
}

#[test]
fn every_value_is_what_its_program_told() {
    let results: Vec<_> = cases(&SCENARIOS).par_iter().map(check).collect();
    let count: usize = results.iter().map(|(count, _)| count).sum();
    let (known, new): (Vec<_>, Vec<_>) =
        results.into_iter().flat_map(|(_, found)| found).partition(differs::is_known);
    println!("{count} values, {} differ as is known", known.len());
    assert!(count >= FEWEST, "{count} values");
    let mut lines: Vec<String> = new
        .iter()
        .map(|new| format!("{}: {}: {}", new.case.name(), new.name, new.what))
        .chain(differs::stale(&SCENARIOS))
        .collect();
    lines.sort();
    assert!(lines.is_empty(), "{} of {count} values differ:\n{}", lines.len(), lines.join("\n"));
}
