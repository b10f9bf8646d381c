//! What ended a process, against what the program itself knew of it.

use std::fs;

use gen_cores::{Case, Truth};
use kcore::LastWords;
use serde_json::Value;

use crate::{CASES, open};

/// The stack that the exception carries, as the program told it: `f (/a.js:1:2)`.
fn told_stack(case: &Case) -> Option<Vec<String>> {
    let told = fs::read_to_string(case.dir.join("values.jsonl")).ok()?;
    let lines = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let stack = lines.filter_map(|line| line["exception_stack"].as_array().cloned()).next()?;
    stack.iter().map(|line| line.as_str().map(str::to_owned)).collect()
}

/// What is wrong with the exception that is told, if anything.
fn exception_difference(case: &Case, truth: &Truth, words: &[LastWords]) -> Option<String> {
    let exception = words.iter().find_map(|words| match words {
        LastWords::Exception { type_name, what, trace, .. } => Some((type_name, what, trace)),
        _ => None,
    });
    let facts = &truth.facts;
    let (Some(told_type), Some((type_name, what, trace))) = (&facts.exception_type, exception)
    else {
        let is_same = facts.exception_type.is_some() == exception.is_some();
        return (!is_same).then(|| format!("{words:?} for {:?}", facts.exception_type));
    };
    let is_told = type_name == told_type && *what == facts.exception_what;
    // A few programs let a `stack` be made before; this one is told beside the error.
    let stack = told_stack(case);
    let is_stack = stack.as_ref().is_none_or(|stack| stack == trace);
    (!is_told || !is_stack).then(|| format!("{exception:?} for {facts:?}, {stack:?}"))
}

#[test]
fn an_uncaught_exception_is_told_with_its_stack() {
    let differences = CASES.iter().filter_map(|(case, truth)| {
        let words = open(case).crash().last_words();
        let difference = exception_difference(case, truth, &words)?;
        Some(format!("{}: {difference}", case.name()))
    });
    let differences: Vec<String> = differences.collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The message of a fatal error that a scenario ends with, and the name of the function in which.
const FATAL: &[(&str, &str, &str)] = &[
    ("node-oom", "JavaScript heap out of memory", "fill "),
    ("node-stack", "process.abort()", ""),
    ("node-async", "process.abort()", ""),
    ("node-ends-handler", "process.abort()", "process.onUncaught "),
    ("node-fatal", "Check failed: ", "failing "),
];

#[test]
fn why_the_runtime_gave_up_is_told() {
    let mut checked = Vec::new();
    for (case, _) in CASES.iter().filter(|(case, _)| !case.variant.contains("gcore")) {
        let known = FATAL.iter().find(|(scenario, ..)| *scenario == case.scenario);
        let Some((_, text, function)) = known else { continue };
        let words = open(case).crash().last_words();
        let fatal = words.iter().find_map(|words| match words {
            LastWords::Fatal { message, trace } => Some((message, trace)),
            _ => None,
        });
        let is_told = fatal.is_some_and(|(message, trace)| {
            message.contains(text) && trace.iter().take(2).any(|line| line.starts_with(function))
        });
        assert!(is_told, "{}: {words:?}", case.name());
        checked.push(case.scenario.as_str());
    }
    assert!(gen_cores::is_short_run() || checked.len() > 20, "only {} cores", checked.len());
    for (scenario, ..) in FATAL {
        let versions = checked.iter().filter(|checked| **checked == *scenario).count();
        assert!(versions >= 2, "{scenario}: only {versions} cores");
    }
}
