//! What ended a process, against what the program itself knew of it.

use std::fs;

use kcore::LastWords;
use serde_json::Value;

use crate::{CASES, open};

#[test]
fn an_uncaught_exception_is_told_with_its_stack() {
    for (case, truth) in CASES.iter().filter(|(case, _)| case.scenario == "python-ends") {
        let text = fs::read_to_string(case.dir.join("values.jsonl")).expect("a stack");
        let told: Value = serde_json::from_str(text.trim()).expect("JSON");
        let stack = told["exception_stack"].as_array().expect("a stack").iter();
        let told = (
            truth.facts.exception_type.clone().expect("a type"),
            truth.facts.exception_what.clone(),
            stack.map(|line| line.as_str().expect("a line").to_owned()).collect::<Vec<_>>(),
        );
        let words = open(case).last_words().into_iter().find_map(|words| match words {
            LastWords::Exception { type_name, what, trace, .. } => Some((type_name, what, trace)),
            _ => None,
        });
        assert_eq!(words, Some(told), "{}", case.name());
    }
}

#[test]
fn who_aborts_by_itself_left_no_exception() {
    for (case, _) in CASES.iter().filter(|(case, _)| case.scenario == "python-stack") {
        let words = open(case).last_words();
        assert!(
            !words.iter().any(|words| matches!(words, LastWords::Exception { .. })),
            "{words:?}"
        );
    }
}
