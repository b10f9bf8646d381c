//! Compares answers with what a case expects, and shows what differs.

use std::fmt::Write;

use crate::case::{Case, Step};
use crate::run;
use crate::support::Answer;

/// Runs the cases and fails with all that differs.
pub fn check(cases: &[Case]) {
    let failures: Vec<String> = cases.iter().filter_map(failure).collect();
    assert!(failures.is_empty(), "{} cases differ\n\n{}", failures.len(), failures.join("\n"));
}

/// What is wrong with a case; a known difference is only told.
fn failure(case: &Case) -> Option<String> {
    let difference = difference(case);
    match (&case.known, difference) {
        (None, difference) => difference.map(|text| format!("{}:\n{text}", case.place)),
        (Some(why), Some(_)) => {
            println!("{}: known: {why}", case.place);
            None
        }
        (Some(why), None) => Some(format!("{}: passes now, but is marked: {why}\n", case.place)),
    }
}

fn difference(case: &Case) -> Option<String> {
    let expected = if case.target.program { vec![join(&case.steps)] } else { case.steps.clone() };
    let answers = expected.iter().zip(run::answers(case));
    let differing = answers.filter(|(step, got)| {
        step.out != got.out || step.errors != compared(&step.errors, &got.errors)
    });
    let text: String = differing.map(|(step, got)| shown(step, &got)).collect();
    (!text.is_empty()).then_some(text)
}

/// The steps of a script as one.
fn join(steps: &[Step]) -> Step {
    Step {
        input: steps.iter().map(|step| step.input.as_str()).collect::<Vec<_>>().join("\n"),
        out: steps.iter().map(|step| step.out.as_str()).collect(),
        errors: steps.iter().flat_map(|step| step.errors.clone()).collect(),
    }
}

/// The error lines that count: those of kcore that say what is wrong, unless others are expected.
fn compared(expected: &[String], got: &[String]) -> Vec<String> {
    let counts = |line: &&String| line.starts_with("kcore: ") && !line.starts_with("kcore: try ");
    let all = !expected.iter().all(|line| counts(&line));
    got.iter().filter(|line| all || counts(line)).cloned().collect()
}

/// Input, expected and got, in the form of the case files.
fn shown(expected: &Step, got: &Answer) -> String {
    let input = expected.input.replace('\n', "\n> ");
    let (right, is) = (answer(&expected.out, &expected.errors), answer(&got.out, &got.errors));
    format!("> {input}\n-- expected\n{right}-- got\n{is}")
}

fn answer(out: &str, errors: &[String]) -> String {
    let mut text = String::new();
    for line in out.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) if line.is_empty() || line.ends_with(' ') => (line, "¶"),
            Some(line) => (line, ""),
            None => (line, " (no newline)"),
        };
        let _ = writeln!(text, "{line}{end}");
    }
    for error in errors {
        let _ = writeln!(text, "! {error}");
    }
    text
}
