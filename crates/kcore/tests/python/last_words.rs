//! What ended a process, against what the program itself knew of it.

use kcore::LastWords;

use crate::{CASES, open, told_lines};

#[test]
fn an_uncaught_exception_is_told_with_its_stack() {
    let ends = ["python-ends", "python-flight"];
    for (case, truth) in CASES.iter().filter(|(case, _)| ends.contains(&&*case.scenario)) {
        let lines = told_lines(case);
        let stack = lines.iter().find_map(|line| line["exception_stack"].as_array());
        let stack = stack.expect("a stack").iter();
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
